/**
 * Results for a caller: of a run, including one that never reached its first step; and the outline of a run, as plain
 * data for `--dry-run`.
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
  /** The id in the kept runs and logs. */
  readonly runId: string;
  /** The skill's name; `chat` for a chat turn. */
  readonly skill: string;
  /** How the run ended. */
  readonly status: RunStatus;
  /** The text so far, even if the run didn't end well. For a run with a schema: only the JSON. */
  readonly text: string;
  /** The value that matches the request's `output` or the skill's `output-schema`; absent without either. */
  readonly object?: unknown;
  /** `false` for a chat turn that reached its model, otherwise `true`. */
  readonly isolated: boolean;
  /** The run's trust: the skill's, or its caller's if that is lower. */
  readonly trust: Trust;
  /** The model it used, such as `anthropic/claude-…`; `""` for a run that never started. */
  readonly model: string;
  /** How many times it called its model, excluding the runs it started. */
  readonly iterations: number;
  /** The tokens it used, including the runs it started. */
  readonly usage: TokenUsage;
  /**
   * In US dollars, or in the currency of the configured prices, including the runs it started. Absent: no price is
   * known.
   */
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
  /** Calls that weren't allowed. */
  readonly denied: readonly {
    /** The name of the tool that was called. */
    readonly tool: string;
    /** Why the call wasn't made. */
    readonly reason: string;
  }[];
  /** The files in the work folder afterwards. */
  readonly files: readonly {
    /** Relative to the work folder. */
    readonly path: string;
    /** In bytes. */
    readonly size: number;
  }[];
  /** What the run was confined to, and what it used. */
  readonly sandbox: {
    /** What isolated commands; `absent`: nothing, so none could run. */
    readonly backend: SandboxBackend | "absent";
    /** By the skill or its own config table, as written. */
    readonly declared: SandboxUse;
    /** What of that the config and the skill's trust allow; paths are absolute. */
    readonly granted: SandboxUse;
    /** Hosts by tools and processes, absolute paths by the file tools; files opened by processes aren't known. */
    readonly used: SandboxUse;
  };
  /** What its commands requested from the host, sorted; absent: nothing. */
  readonly capabilities?: readonly CapabilityUse[];
  /** Findings about the skill and the run, even if it completed. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of a run with `output`: if `status` is `completed`, `object` is set and has the schema's type. */
export type ObjectResult<Value> = Omit<RunResult, "status" | "object"> &
  (
    | { readonly status: "completed"; readonly object: Value }
    | { readonly status: Exclude<RunStatus, "completed">; readonly object?: undefined }
  );

/** The result of a run, by the `output` of its request. */
export type ResultFor<Schema> = [Schema] extends [GivenSchema]
  ? ObjectResult<SchemaOutput<Schema>>
  : RunResult;

/** What a run requests, may reach or has reached beyond its own folders. */
export interface SandboxUse {
  /** Hosts and domains. */
  readonly network: readonly string[];
  /** Paths it reads. */
  readonly read: readonly string[];
  /** Paths it writes. */
  readonly write: readonly string[];
}

/** The result of running a skill's script. */
export interface ScriptResult
  extends Pick<RunResult, "trust" | "refusal" | "files" | "sandbox" | "capabilities" | "diagnostics"> {
  /** The id in the kept runs and logs. */
  readonly runId: string;
  /** The name of the skill. */
  readonly skill: string;
  /** The script's path in the skill's folder, as requested. */
  readonly script: string;
  /** `completed`: it ran, and its exit code is 0. */
  readonly status: RunStatus;
  /** How its process ended; `refused`: it never started. */
  readonly ended: "exited" | "signalled" | "timeout" | "cancelled" | "limit" | "refused";
  /** Absent if it didn't run to an end. */
  readonly exitCode?: number;
  /** At most the first million characters of each stream; a longer one is complete in the work folder. */
  readonly stdout: string;
  /** What it wrote to standard error, cut like `stdout`. */
  readonly stderr: string;
  /** Standard output, if it is one JSON object or list. */
  readonly json?: Json;
  /** How long the process ran, in milliseconds; 0 if it never started. */
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

/** The outcome of an invocation: instructions for your own conversation, a finished run, or a refusal. */
export type InvokeOutcome =
  | { readonly kind: "inline"; readonly text: string; readonly prepared: PreparedInvocation }
  | { readonly kind: "run"; readonly result: RunResult }
  | { readonly kind: "refused"; readonly refusal: InvocationRefusal };

/** Only for a durable run: it waits for a person, or continues in another process. */
export interface LeftRun {
  readonly kind: "left";
  readonly why: Leave;
}

const NOTHING = { network: [], read: [], write: [] } as const;

/** For what never started. */
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

/** Results of runs that never reached their first step: refused, over a limit, or lacking something they need. */
export function refusedResult(runId: string, refusal: InvocationRefusal): RunResult {
  return { ...emptyResult(runId, refusal.skill), status: "refused", refusal };
}

/** A conversation whose budget was used up before the turn started. */
export function limitedResult(runId: string, skill: string, limit: RunLimit): RunResult {
  return { ...emptyResult(runId, skill), trust: "trusted", status: "limited", limit };
}

/** A run without a result yet. */
export function cancelledResult(runId: string, skill: string): RunResult {
  return { ...emptyResult(runId, skill), status: "cancelled" };
}

/** What a run needs but doesn't have. */
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
  /** When it runs. */
  readonly hook: HookEvent;
  /** Names and globs; empty: every tool. */
  readonly tools: readonly string[];
  /** Words, or a line for `sh`; absent if it can't be read. */
  readonly command?: HookCommand;
}

interface ToolOutline {
  /** As its model would call it. */
  readonly name: string;
  /** What it can do, such as `read`, `write` or `execute`. */
  readonly effect: ToolEffect;
  /** The tool policy's answer to a call without a more specific rule. */
  readonly answer: ToolAnswer;
  /** The deciding rule, in words. */
  readonly rule: string;
}

/** What `--dry-run` shows. Only names of variables, never their values. */
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
  /** The names of the tools its model would get. */
  readonly tools: readonly string[];
  /** The tool policy's answer for each of them. */
  readonly toolRules: readonly ToolOutline[];
  /** The skill's toolsets, as declared: their tools are known once a run has loaded them. */
  readonly toolsets: readonly string[];
  /** The skill's commands around its tool calls and at its end. */
  readonly hooks: readonly HookOutline[];
  /** Names only. */
  readonly env: readonly string[];
  /** What the host performs for it, as declared. */
  readonly capabilities: readonly string[];
  /** What the run would be confined to. */
  readonly sandbox: {
    /** What would isolate commands; `absent`: nothing, so none could run. */
    readonly backend: SandboxBackend | "absent";
    /** What the skill asks for. */
    readonly declared: SandboxUse;
    /** What the run may reach beyond its own folders; paths are absolute. */
    readonly granted: SandboxUse;
    /** Domains the run may reach. */
    readonly network: readonly string[];
    /** The folders a run would see. */
    readonly world: World;
  };
  /** The limits it would have, after the config, the skill and the request. */
  readonly limits: RunLimits;
  /** The system prompt, without secrets. */
  readonly system: string;
  /** The first turn. */
  readonly message: string;
  /** Findings that don't block it. */
  readonly diagnostics: readonly Diagnostic[];
}
