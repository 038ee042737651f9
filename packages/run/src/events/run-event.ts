/**
 * What happens in a run, as one typed, versioned union. The command line's view, the log, statistics and replays are
 * all made from it. Every text in it has passed the redaction gate.
 */
import type { LogLevel } from "@metier/base/diagnostic";
import type { Json, JsonObject } from "@metier/base/json";
import type { HookEvent } from "@metier/skills";
import type { Reach } from "@metier/skills/config";

export const EVENT_VERSION = 1;

/** How many tokens model calls used, as the provider counts them. */
export interface TokenUsage {
  /** Tokens of what the model was sent. */
  readonly inputTokens: number;
  /** Tokens of what the model wrote. */
  readonly outputTokens: number;
  /** All tokens; limits on tokens are compared with this. */
  readonly totalTokens: number;
}

/** How a run ended: only `completed` has a whole answer, `limited` was stopped by a limit, `refused` never started. */
export type RunStatus = "completed" | "limited" | "failed" | "refused" | "cancelled";
/** Which limit stopped a run; `output` means the bytes that its model wrote. */
export type RunLimit = "iterations" | "time" | "tokens" | "cost" | "output" | "depth";

export type HookOutcome = "allow" | "block" | "fault";

/** What held a run, what its skill asked for, what it was given, and what of that its tools used. */
export interface SandboxReport {
  /** What isolated commands; `absent`: nothing did. */
  readonly backend: string;
  /** What the skill asked for. */
  readonly declared: Reach;
  /** What it was given. */
  readonly granted: Reach;
  /** What it made use of. */
  readonly used: Reach;
}

/** How often an operation was asked for in a run, and how often it was not performed. */
export interface CapabilityUse {
  /** The id of the capability: `namespace.name`. */
  readonly capability: string;
  /** The operation; absent when the run asked for one that it may not know of, or that does not exist. */
  readonly operation?: string | undefined;
  /** How many times it was asked for. */
  readonly calls: number;
  /** How many of these calls were not performed. */
  readonly failed: number;
}

/** A command of the run asked the host for a capability. What was sent and what was answered stays out. */
export interface CapabilityCall {
  /** The id of the capability: `namespace.name`. */
  readonly capability: string;
  /** Absent: none that the capability has, or that the run may know of. */
  readonly operation?: string | undefined;
  /** A reference, as the audit log has it. */
  readonly account?: string | undefined;
  /** Whether the operation changes something. */
  readonly mutating: boolean;
  /** `ok`, `repeat`, or the code of the fault. */
  readonly outcome: string;
  /** The id that the audit log has it by. */
  readonly requestId: string;
  /** How long it took. */
  readonly durationMs: number;
}

/** A part of a message as a model is sent it or sends it. */
export type MessagePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool-call"; readonly callId: string; readonly tool: string; readonly input: Json }
  | {
      readonly type: "tool-result";
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
    };

export interface RecordedMessage {
  /** Whose message it is. */
  readonly role: "user" | "assistant" | "tool";
  /** What it says, calls and answers, in order. */
  readonly parts: readonly MessagePart[];
}

/** What happened, told apart by `type`; `RunEvent` adds when, in which run and in which order. */
export type RunEventBody =
  /** The first event of a run: what is run, by whom, with which model, tools and folders. */
  | {
      readonly type: "run-started";
      readonly skill: string;
      readonly source: "model" | "user" | "code";
      readonly location: string;
      /** The content identity of the skill; absent: it has no files, or too many to hash before a run. */
      readonly digest?: string | undefined;
      readonly trust: "trusted" | "untrusted";
      readonly model: string;
      readonly depth: number;
      /** Of the caller, with its tenant where it has one (`tenant/acme/ada`); absent: nobody in particular. */
      readonly userId?: string | undefined;
      /** Whose user it is; absent: of no tenant. */
      readonly tenantId?: string | undefined;
      /** Of the run that started this one. */
      readonly parentRunId?: string | undefined;
      readonly tools: readonly string[];
      readonly workDir: string;
      readonly skillDir?: string | undefined;
      readonly cwd: string;
      /** Names only. */
      readonly env: readonly string[];
    }
  /** Another process goes on with the run; what had not been recorded of its last step happens again. */
  | {
      readonly type: "run-resumed";
      readonly skill: string;
      readonly model: string;
      /** How long it was worked on before. */
      readonly activeMs: number;
    }
  /** The model is asked. `messages` are those that are new since the last step; `system` stands in the first only. */
  | {
      readonly type: "model-called";
      readonly step: number;
      readonly system?: string | undefined;
      readonly messages: readonly RecordedMessage[];
    }
  /** Live only, never stored: the whole text follows in `model-answered`. */
  | { readonly type: "text-delta"; readonly step: number; readonly text: string }
  /** The model has answered; `cost` is in US dollars or the currency of the configured prices. */
  | {
      readonly type: "model-answered";
      readonly step: number;
      readonly parts: readonly MessagePart[];
      readonly finishReason: string;
      readonly usage: TokenUsage;
      /** Absent: no price is known. */
      readonly cost?: number | undefined;
      readonly durationMs: number;
    }
  /** A model call failed and is made again after `delayMs`; `attempt` is the number of that try, from 2. */
  | {
      readonly type: "model-retried";
      readonly step: number;
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
    }
  /** The model called a tool, and the tool policy or a person has decided. */
  | {
      readonly type: "tool-called";
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly input: Json;
      /** How the policy answered, and by which rule. */
      readonly decision: "allow" | "approved" | "deny";
      readonly rule: string;
    }
  /** A tool call waits for a person; the run is parked until one answers. */
  | {
      readonly type: "approval-asked";
      /** `tool` and `input` are those of a capability that is to change something. Absent: of the call itself. */
      readonly kind?: "confirmation" | undefined;
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly questionId: string;
      readonly input: Json;
      /** Why it is asked. */
      readonly rule: string;
    }
  /** A person has answered, or nobody did in time. */
  | {
      readonly type: "approval-answered";
      /** As in `approval-asked`. */
      readonly kind?: "confirmation" | undefined;
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly questionId: string;
      readonly status: string;
      /** Absent: nobody did. */
      readonly by?: string | undefined;
    }
  /** A tool call has ended; `text` is what the model reads. */
  | {
      readonly type: "tool-finished";
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
      readonly durationMs: number;
    }
  /** A tool of the embedding program said something about its call. */
  | {
      readonly type: "tool-logged";
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly level: LogLevel;
      readonly message: string;
      readonly fields?: JsonObject | undefined;
    }
  /** A hook of the skill was asked: before or after a call, or at the end. */
  | {
      readonly type: "hook-finished";
      readonly step: number;
      readonly hook: HookEvent;
      readonly tool?: string | undefined;
      readonly callId?: string | undefined;
      readonly outcome: HookOutcome;
      /** Why it blocked, or could not be asked. */
      readonly reason?: string | undefined;
      readonly durationMs: number;
    }
  /** A command of the run asked the host for a capability. */
  | ({ readonly type: "capability-called"; readonly step: number } & CapabilityCall)
  /** The run has started another skill, whose events have `childRunId` as their `runId`. */
  | { readonly type: "child-started"; readonly childRunId: string; readonly skill: string }
  /** A finding that does not end the run. */
  | { readonly type: "diagnostic"; readonly code: string; readonly message: string }
  /** A limit has stopped the run; `message` says what was used and what is allowed. */
  | { readonly type: "limit-reached"; readonly limit: RunLimit; readonly message: string }
  /** The last event of a run: how it ended, its answer and what it used. */
  | {
      readonly type: "run-finished";
      readonly status: RunStatus;
      readonly text: string;
      readonly iterations: number;
      readonly usage: TokenUsage;
      /** With the runs it started. Absent: no price is known. */
      readonly cost?: number | undefined;
      readonly durationMs: number;
      readonly limit?: RunLimit | undefined;
      readonly error?: { readonly code: string; readonly message: string } | undefined;
      readonly sandbox?: SandboxReport | undefined;
      /** Absent: none was called. */
      readonly capabilities?: readonly CapabilityUse[] | undefined;
    };

/**
 * One thing that happened in a run. `type` tells events apart; secrets were taken out of every text.
 *
 * @example
 * ```ts
 * for await (const event of metier.start({ skill: "summarize-text", message }).events) {
 *   if (event.type === "tool-called") console.log(event.tool, event.decision);
 * }
 * ```
 */
export type RunEvent = RunEventBody & {
  /** The version of this format. */
  readonly v: typeof EVENT_VERSION;
  /** The run it happened in; nested runs have their own. */
  readonly runId: string;
  /** 1, 2, 3 … within the run. */
  readonly seq: number;
  /** ISO 8601, with milliseconds. */
  readonly at: string;
};
