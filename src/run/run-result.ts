/** What a caller gets from a run, whatever became of it. */
import type { CapabilityUse, RunLimit, RunStatus, TokenUsage } from "../events/run-event.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Refusal } from "../invoke/invocation.ts";
import type { SandboxBackend } from "../sandbox/sandbox.ts";
import type { Trust } from "../skill/skill.ts";

export interface RunResult {
  readonly runId: string;
  readonly skill: string;
  readonly status: RunStatus;
  /** The text so far, also when the run did not end well. */
  readonly text: string;
  readonly isolated: boolean;
  readonly trust: Trust;
  readonly model: string;
  readonly iterations: number;
  readonly usage: TokenUsage;
  readonly durationMs: number;
  readonly limit?: RunLimit;
  readonly refusal?: Refusal;
  readonly error?: { readonly code: string; readonly message: string };
  /** Calls that were not allowed. */
  readonly denied: readonly { readonly tool: string; readonly reason: string }[];
  /** What is in the work folder afterwards. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly sandbox: {
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
  readonly diagnostics: readonly Diagnostic[];
}

export interface SandboxUse {
  readonly network: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
}
