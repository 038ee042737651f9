/**
 * What a caller gets: from a run, whatever became of it, also when it never came to its first step; and what a run would be,
 * as plain data for `--dry-run`.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import type { SandboxBackend, World } from "@metier/sandbox";
import type { HookCommand, HookEvent, Trust, TrustDecision } from "@metier/skills";
import type { ToolAnswer } from "@metier/skills/config";
import type { Leave } from "../durable/parking.ts";
import type { CapabilityUse, RunLimit, RunStatus, TokenUsage } from "../events/run-event.ts";
import type { InvocationRefusal, PreparedInvocation } from "../invoke/invocation.ts";
import type { GivenSchema, SchemaOutput } from "../tools/given-schema.ts";
import type { ToolEffect } from "../tools/tool.ts";
import { NO_USAGE, type RunLimits } from "./run-limits.ts";

/**
 * The result of a run, however it ended; check `status` before you use `text`.
 *
 * @example
 * ```ts
 * const result = await metier.run({ skill: "summarize-text", message });
 * if (result.status === "completed") console.log(result.text);
 * else console.error(result.refusal?.message ?? result.error?.message ?? result.limit);
 * ```
 */
export interface RunResult {
  /** The id under which the run is kept and logged. */
  readonly runId: string;
  /** The name of the skill; `chat` for a turn of a chat. */
  readonly skill: string;
  /** How the run ended. */
  readonly status: RunStatus;
  /** The text so far, also when the run did not end well. For a run that is held to a schema: the JSON alone. */
  readonly text: string;
  /** What fits the `output` of the request, or the skill's `output-schema`; absent where there is neither. */
  readonly object?: unknown;
  /** `false` for a turn of a chat that reached its model, `true` otherwise. */
  readonly isolated: boolean;
  /** The trust the run had: that of the skill, or of its caller where that is lower. */
  readonly trust: Trust;
  /** The model it used, such as `anthropic/claude-…`; `""` for a run that never started. */
  readonly model: string;
  /** How many times it called its model, without the runs it started. */
  readonly iterations: number;
  /** The tokens it used, with the runs it started. */
  readonly usage: TokenUsage;
  /** In US dollars, or in the currency of the configured prices, with the runs it started. Absent: no price is known. */
  readonly cost?: number | undefined;
  /** How long it took, in milliseconds; 0 for a run that never started. */
  readonly durationMs: number;
  /** The limit that stopped it; only with status `limited`. */
  readonly limit?: RunLimit;
  /** Why it was not started; only with status `refused`. */
  readonly refusal?: InvocationRefusal;
  /** Why it failed; only with status `failed`. */
  readonly error?: {
    /** What went wrong, such as `model.failed`: for programs. */
    readonly code: string;
    /** What went wrong and what to do: for people. */
    readonly message: string;
  };
  /** Calls that were not allowed. */
  readonly denied: readonly {
    /** The name of the tool that was called. */
    readonly tool: string;
    /** Why the call was not made. */
    readonly reason: string;
  }[];
  /** What is in the work folder afterwards. */
  readonly files: readonly {
    /** Below the work folder. */
    readonly path: string;
    /** In bytes. */
    readonly size: number;
  }[];
  /** What the run was confined to, and what it used of that. */
  readonly sandbox: {
    /** What isolated commands; `absent`: nothing did, and none could run. */
    readonly backend: SandboxBackend | "absent";
    /** By the skill, or for it by its own table in the config, as written. */
    readonly declared: SandboxUse;
    /** What of that the config and the skill's trust let it have; paths are absolute. */
    readonly granted: SandboxUse;
    /** Hosts by tools and processes, absolute paths by the file tools; what processes opened is not known. */
    readonly used: SandboxUse;
  };
  /** What its commands asked of the host, sorted; absent: nothing. */
  readonly capabilities?: readonly CapabilityUse[];
  /** Findings about the skill and the run, also when it completed. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of a run with `output`: once `status` is `completed`, `object` is there, with the schema's type. */
export type ObjectResult<Value> = Omit<RunResult, "status" | "object"> &
  (
    | { readonly status: "completed"; readonly object: Value }
    | { readonly status: Exclude<RunStatus, "completed">; readonly object?: undefined }
  );

/** The result of a run, by the `output` of its request. */
export type ResultFor<Schema> = [Schema] extends [GivenSchema]
  ? ObjectResult<SchemaOutput<Schema>>
  : RunResult;

/** What a run asks for, may reach or has reached beyond its own folders. */
export interface SandboxUse {
  /** Hosts and domains. */
  readonly network: readonly string[];
  /** Paths it reads. */
  readonly read: readonly string[];
  /** Paths it writes. */
  readonly write: readonly string[];
}

/** Of a script of a skill, whatever became of it. */
export interface ScriptResult
  extends Pick<RunResult, "trust" | "refusal" | "files" | "sandbox" | "capabilities" | "diagnostics"> {
  /** The id under which the run of the script is kept and logged. */
  readonly runId: string;
  /** The name of the skill. */
  readonly skill: string;
  /** The script's path in the skill's folder, as it was asked for. */
  readonly script: string;
  /** `completed`: it ran, and its exit code is 0. */
  readonly status: RunStatus;
  /** How its process ended; `refused`: it was never started. */
  readonly ended: "exited" | "signalled" | "timeout" | "cancelled" | "limit" | "refused";
  /** Absent when it did not run to an end. */
  readonly exitCode?: number;
  /** Of each stream at most the first million characters; the whole of a longer one is in the work folder. */
  readonly stdout: string;
  /** What it wrote to standard error, cut like `stdout`. */
  readonly stderr: string;
  /** Standard output, when it is one JSON object or list. */
  readonly json?: Json;
  /** How long the process ran, in milliseconds; 0 when it was never started. */
  readonly durationMs: number;
  /**
   * `script.missing`, `script.unusable`, `script.failed`, `script.stopped`, `program.missing`, `sandbox.unavailable`,
   * `tools.denied`.
   */
  readonly error?: {
    /** What went wrong, such as `script.failed`: for programs. */
    readonly code: string;
    /** What went wrong and what to do: for people. */
    readonly message: string;
  };
}

/** What an invocation came to: instructions for your own conversation, a finished run, or a refusal. */
export type InvokeOutcome =
  | { readonly kind: "inline"; readonly text: string; readonly prepared: PreparedInvocation }
  | { readonly kind: "run"; readonly result: RunResult }
  | { readonly kind: "refused"; readonly refusal: InvocationRefusal };

/** Of a durable run alone: it waits for a person, or goes on in another process. */
export interface LeftRun {
  readonly kind: "left";
  readonly why: Leave;
}

const NOTHING = { network: [], read: [], write: [] } as const;

/** Of what never started. */
export const NO_SANDBOX: RunResult["sandbox"] = {
  backend: "absent",
  declared: NOTHING,
  granted: NOTHING,
  used: NOTHING,
};

function emptyResult(runId: string, skill: string): Omit<RunResult, "status"> {
  return {
    runId,
    skill,
    text: "",
    isolated: true,
    trust: "untrusted",
    model: "",
    iterations: 0,
    usage: NO_USAGE,
    durationMs: 0,
    denied: [],
    files: [],
    sandbox: NO_SANDBOX,
    diagnostics: [],
  };
}

/** The results of runs that never came to their first step: refused, over a limit, or without something they need. */
export function refusedResult(runId: string, refusal: InvocationRefusal): RunResult {
  return { ...emptyResult(runId, refusal.skill), status: "refused", refusal };
}

/** A conversation whose budget was used up before the turn began. */
export function limitedResult(runId: string, skill: string, limit: RunLimit): RunResult {
  return { ...emptyResult(runId, skill), trust: "trusted", status: "limited", limit };
}

/** A run that has no result yet. */
export function cancelledResult(runId: string, skill: string): RunResult {
  return { ...emptyResult(runId, skill), status: "cancelled" };
}

/** What a run needs and does not have. */
export interface StartFault {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export function failedResult(
  runId: string,
  {
    skill,
    trust,
    diagnostics,
  }: Pick<PreparedInvocation, "trust" | "diagnostics"> & {
    readonly skill: { readonly name: string };
  },
  { code, message, hint }: StartFault,
): RunResult {
  return {
    ...emptyResult(runId, skill.name),
    status: "failed",
    trust: trust.level,
    diagnostics,
    error: { code, message: `${message} ${hint}`.trim() },
  };
}

interface HookOutline {
  /** When it is run. */
  readonly hook: HookEvent;
  /** Names and globs; none: every tool. */
  readonly tools: readonly string[];
  /** Words, or a line for `sh`; absent for one that cannot be read. */
  readonly command?: HookCommand;
}

interface ToolOutline {
  /** As its model would call it. */
  readonly name: string;
  /** What it can do, such as `read`, `write` or `execute`. */
  readonly effect: ToolEffect;
  /** What the tool policy says to a call that no narrower rule is about. */
  readonly answer: ToolAnswer;
  /** Which rule decides that, in words. */
  readonly rule: string;
}

/** What `--dry-run` shows. Names of variables only, never their values. */
export interface RunOutline {
  /** The name of the skill. */
  readonly skill: string;
  /** The skill file. */
  readonly location: string;
  /** The trust the run would have. */
  readonly trust: TrustDecision["level"];
  /** Why it would have that trust, in one sentence. */
  readonly trustReason: string;
  /** The model it would use, such as `anthropic/claude-…`. */
  readonly model: string;
  /** The names of the tools its model would be offered. */
  readonly tools: readonly string[];
  /** What the tool policy says to each of them. */
  readonly toolRules: readonly ToolOutline[];
  /** The skill's own, as it declares them: which tools they bring is known once a run has loaded them. */
  readonly toolsets: readonly string[];
  /** Commands of the skill around its tool calls and at its end. */
  readonly hooks: readonly HookOutline[];
  /** Names only. */
  readonly env: readonly string[];
  /** What the host performs for it, as it declares them. */
  readonly capabilities: readonly string[];
  /** What the run would be confined to. */
  readonly sandbox: {
    /** What would isolate commands; `absent`: nothing would, and none could run. */
    readonly backend: SandboxBackend | "absent";
    /** What the skill asks for. */
    readonly declared: SandboxUse;
    /** What the run may reach beyond its own folders; paths are absolute. */
    readonly granted: SandboxUse;
    /** Domains the run may reach. */
    readonly network: readonly string[];
    /** The folders that a run would see. */
    readonly world: World;
  };
  /** The limits it would have, after the config, the skill and the request. */
  readonly limits: RunLimits;
  /** The system prompt, without secrets. */
  readonly system: string;
  /** The first turn. */
  readonly message: string;
  /** Findings that do not keep it from running. */
  readonly diagnostics: readonly Diagnostic[];
}
