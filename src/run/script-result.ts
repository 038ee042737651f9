/** What a caller asks of a script of a skill, and what it gets, whatever became of it. */
import type { RunStatus } from "../events/run-event.ts";
import type { Json } from "../skill/manifest.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";

export interface ScriptRequest
  extends Pick<
    RunRequest,
    | "skill"
    | "source"
    | "caller"
    | "confirm"
    | "write"
    | "workDir"
    | "env"
    | "privateFiles"
    | "signal"
    | "onEvent"
    | "onProgress"
  > {
  /** Path in the skill's folder. */
  readonly script: string;
  readonly args?: readonly string[];
  /** A text as it is, a stream as it comes; anything else as JSON. */
  readonly stdin?: Json | AsyncIterable<string | Uint8Array>;
  /** Default: `skills.script-timeout-ms`. Never more than the policy allows. */
  readonly timeoutMs?: number;
  /** What it writes, as it comes, without secrets. */
  readonly onOutput?: (stream: "stdout" | "stderr", text: string) => void;
}

export interface ScriptResult
  extends Pick<RunResult, "trust" | "refusal" | "files" | "sandbox" | "capabilities" | "diagnostics"> {
  readonly runId: string;
  readonly skill: string;
  readonly script: string;
  /** `completed`: it ran, and its exit code is 0. */
  readonly status: RunStatus;
  readonly ended: "exited" | "signalled" | "timeout" | "cancelled" | "limit" | "refused";
  /** Absent when it did not run to an end. */
  readonly exitCode?: number;
  /** Of each stream at most the first million characters; the whole of a longer one is in the work folder. */
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output, when it is one JSON object or list. */
  readonly json?: Json;
  readonly durationMs: number;
  /**
   * `script.missing`, `script.unusable`, `script.failed`, `script.stopped`, `program.missing`, `sandbox.unavailable`,
   * `tools.denied`.
   */
  readonly error?: { readonly code: string; readonly message: string };
}
