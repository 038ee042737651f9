/**
 * The events of a run, as one typed, versioned union. The command line's view, the log, statistics and replays are all
 * built from it. Every text in it has passed the redaction gate.
 */
import type { LogLevel } from "@metier/base/diagnostic";
import type { Json, JsonObject } from "@metier/base/json";
import type { HookEvent } from "@metier/skills";
import type { Reach } from "@metier/skills/config";

export const EVENT_VERSION = 1;

/** How many tokens model calls used, as counted by the provider. */
export interface TokenUsage {
  /** Tokens sent to the model. */
  readonly inputTokens: number;
  /** Tokens written by the model. */
  readonly outputTokens: number;
  /** All tokens; token limits apply to this. */
  readonly totalTokens: number;
}

/** How a run ended: only `completed` has a full answer; `limited` was stopped by a limit; `refused` never started. */
export type RunStatus = "completed" | "limited" | "failed" | "refused" | "cancelled";
/** Which limit stopped a run; `output` is the number of bytes its model wrote. */
export type RunLimit = "iterations" | "time" | "tokens" | "cost" | "output" | "depth";

export type HookOutcome = "allow" | "block" | "fault";

/** A run's sandbox, what its skill asked for, what it was granted, and what its tools used. */
export interface SandboxReport {
  /** What isolated commands; `absent`: nothing. */
  readonly backend: string;
  /** What the skill asked for. */
  readonly declared: Reach;
  /** What it was granted. */
  readonly granted: Reach;
  /** What it used. */
  readonly used: Reach;
}

/** How often a run requested an operation, and how often it failed. */
export interface CapabilityUse {
  /** The id of the capability: `namespace.name`. */
  readonly capability: string;
  /** The operation; absent if the run requested one that doesn't exist or that it may not know. */
  readonly operation?: string | undefined;
  /** How many times it was requested. */
  readonly calls: number;
  /** How many of these calls were not performed. */
  readonly failed: number;
}

/** A command of the run called a capability. Input and output are left out. */
export interface CapabilityCall {
  /** The id of the capability: `namespace.name`. */
  readonly capability: string;
  /** Absent: the capability has no such operation, or the run may not know it. */
  readonly operation?: string | undefined;
  /** A reference, as in the audit log. */
  readonly account?: string | undefined;
  /** Whether the operation changes something. */
  readonly mutating: boolean;
  /** `ok`, `repeat`, or the error code. */
  readonly outcome: string;
  /** Its id in the audit log. */
  readonly requestId: string;
  /** How long it took. */
  readonly durationMs: number;
}

/** A part of a message to or from a model. */
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
  /** Its texts, calls and results, in order. */
  readonly parts: readonly MessagePart[];
}

/** What happened, distinguished by `type`; `RunEvent` adds time, run and order. */
export type RunEventBody =
  /** The first event of a run: what runs, for whom, with which model, tools and folders. */
  | {
      readonly type: "run-started";
      readonly skill: string;
      readonly source: "model" | "user" | "code";
      readonly location: string;
      /** The skill's content identity; absent if it has no files, or too many to hash before a run. */
      readonly digest?: string | undefined;
      readonly trust: "trusted" | "untrusted";
      readonly model: string;
      readonly depth: number;
      /** The caller's, with its tenant if any (`tenant/acme/ada`); absent: nobody in particular. */
      readonly userId?: string | undefined;
      /** The user's tenant; absent: none. */
      readonly tenantId?: string | undefined;
      /** The run that started this one. */
      readonly parentRunId?: string | undefined;
      readonly tools: readonly string[];
      readonly workDir: string;
      readonly skillDir?: string | undefined;
      readonly cwd: string;
      /** Names only. */
      readonly env: readonly string[];
    }
  /** Another process continues the run; the unrecorded part of its last step happens again. */
  | {
      readonly type: "run-resumed";
      readonly skill: string;
      readonly model: string;
      /** How long it was worked on before. */
      readonly activeMs: number;
    }
  /** The model is asked. `messages` are those added since the last step; only the first has `system`. */
  | {
      readonly type: "model-called";
      readonly step: number;
      readonly system?: string | undefined;
      readonly messages: readonly RecordedMessage[];
    }
  /** Live only, never stored: `model-answered` has the whole text. */
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
  /** A model call failed and is retried after `delayMs`; `attempt` is the number of that try, from 2. */
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
      /** The decision, and the rule behind it. */
      readonly decision: "allow" | "approved" | "deny";
      readonly rule: string;
    }
  /** A tool call is waiting for a person; the run is parked until someone answers. */
  | {
      readonly type: "approval-asked";
      /** `tool` and `input` belong to a capability that will change something. Absent: to the call itself. */
      readonly kind?: "confirmation" | undefined;
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly questionId: string;
      readonly input: Json;
      /** Why it is asked. */
      readonly rule: string;
    }
  /** A person answered, or nobody did in time. */
  | {
      readonly type: "approval-answered";
      /** As in `approval-asked`. */
      readonly kind?: "confirmation" | undefined;
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly questionId: string;
      readonly status: string;
      /** Absent: nobody. */
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
  /** A tool of the embedding program logged a note about its call. */
  | {
      readonly type: "tool-logged";
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly level: LogLevel;
      readonly message: string;
      readonly fields?: JsonObject | undefined;
    }
  /** A hook of the skill ran: before or after a call, or at the end. */
  | {
      readonly type: "hook-finished";
      readonly step: number;
      readonly hook: HookEvent;
      readonly tool?: string | undefined;
      readonly callId?: string | undefined;
      readonly outcome: HookOutcome;
      /** Why it blocked, or couldn't run. */
      readonly reason?: string | undefined;
      readonly durationMs: number;
    }
  /** A command of the run called a capability. */
  | ({ readonly type: "capability-called"; readonly step: number } & CapabilityCall)
  /** The run started another skill, whose events have `childRunId` as their `runId`. */
  | { readonly type: "child-started"; readonly childRunId: string; readonly skill: string }
  /** A finding that doesn't end the run. */
  | { readonly type: "diagnostic"; readonly code: string; readonly message: string }
  /** A limit stopped the run; `message` says how much was used and allowed. */
  | { readonly type: "limit-reached"; readonly limit: RunLimit; readonly message: string }
  /** The last event of a run: how it ended, its answer and its usage. */
  | {
      readonly type: "run-finished";
      readonly status: RunStatus;
      readonly text: string;
      readonly iterations: number;
      readonly usage: TokenUsage;
      /** Including the runs it started. Absent: no price is known. */
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
