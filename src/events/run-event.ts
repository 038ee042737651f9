/**
 * What happens in a run, as one typed, versioned union. The command line's view, the log, statistics and replays are
 * all made from it. Every text in it has passed the redaction gate.
 */
import type { Reach } from "../config/config.ts";
import type { Json } from "../skill/manifest.ts";
import type { HookEvent } from "../validate/read-hooks.ts";

export const EVENT_VERSION = 1;

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

export type RunStatus = "completed" | "limited" | "failed" | "refused" | "cancelled";
export type RunLimit = "iterations" | "time" | "tokens" | "cost" | "output" | "depth";

export type HookOutcome = "allow" | "block" | "fault";

/** What held a run, what its skill asked for, what it was given, and what of that its tools used. */
export interface SandboxReport {
  readonly backend: string;
  readonly declared: Reach;
  readonly granted: Reach;
  readonly used: Reach;
}

/** How often an operation was asked for in a run, and how often it was not performed. */
export interface CapabilityUse {
  readonly capability: string;
  readonly operation?: string;
  readonly calls: number;
  readonly failed: number;
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
  readonly role: "user" | "assistant" | "tool";
  readonly parts: readonly MessagePart[];
}

export type RunEventBody =
  | {
      readonly type: "run-started";
      readonly skill: string;
      readonly source: "model" | "user" | "code";
      readonly location: string;
      readonly trust: "trusted" | "untrusted";
      readonly model: string;
      readonly depth: number;
      /** Of the run that started this one. */
      readonly parentRunId?: string;
      readonly tools: readonly string[];
      readonly workDir: string;
      readonly skillDir?: string;
      readonly cwd: string;
      /** Names only. */
      readonly env: readonly string[];
    }
  /** The model is asked. `messages` are those that are new since the last step; `system` stands in the first only. */
  | {
      readonly type: "model-called";
      readonly step: number;
      readonly system?: string;
      readonly messages: readonly RecordedMessage[];
    }
  /** Live only, never stored: the whole text follows in `model-answered`. */
  | { readonly type: "text-delta"; readonly step: number; readonly text: string }
  | {
      readonly type: "model-answered";
      readonly step: number;
      readonly parts: readonly MessagePart[];
      readonly finishReason: string;
      readonly usage: TokenUsage;
      readonly durationMs: number;
    }
  | {
      readonly type: "model-retried";
      readonly step: number;
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
    }
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
  | {
      readonly type: "tool-finished";
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
      readonly durationMs: number;
    }
  /** A hook of the skill was asked: before or after a call, or at the end. */
  | {
      readonly type: "hook-finished";
      readonly step: number;
      readonly hook: HookEvent;
      readonly tool?: string;
      readonly callId?: string;
      readonly outcome: HookOutcome;
      /** Why it blocked, or could not be asked. */
      readonly reason?: string;
      readonly durationMs: number;
    }
  /** A command of the run asked the host for a capability. What was sent and what was answered stays out. */
  | {
      readonly type: "capability-called";
      readonly step: number;
      readonly capability: string;
      /** Absent: none that the capability has, or that the run may know of. */
      readonly operation?: string;
      /** A reference, as the audit log has it. */
      readonly account?: string;
      readonly mutating: boolean;
      /** `ok`, `repeat`, or the code of the fault. */
      readonly outcome: string;
      readonly requestId: string;
      readonly durationMs: number;
    }
  | { readonly type: "child-started"; readonly childRunId: string; readonly skill: string }
  | { readonly type: "diagnostic"; readonly code: string; readonly message: string }
  | { readonly type: "limit-reached"; readonly limit: RunLimit; readonly message: string }
  | {
      readonly type: "run-finished";
      readonly status: RunStatus;
      readonly text: string;
      readonly iterations: number;
      readonly usage: TokenUsage;
      readonly durationMs: number;
      readonly limit?: RunLimit;
      readonly error?: { readonly code: string; readonly message: string };
      readonly sandbox?: SandboxReport;
      /** Absent: none was called. */
      readonly capabilities?: readonly CapabilityUse[];
    };

export type RunEvent = RunEventBody & {
  readonly v: typeof EVENT_VERSION;
  readonly runId: string;
  /** 1, 2, 3 … within the run. */
  readonly seq: number;
  /** ISO 8601, with milliseconds. */
  readonly at: string;
};
