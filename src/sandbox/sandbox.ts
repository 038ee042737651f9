/** The contract every sandbox backend keeps. A backend that cannot hold a part of the policy refuses; it never runs anyway. */
import type { Readable } from "node:stream";
import type { World } from "./world.ts";

export type SandboxBackend = "bubblewrap" | "sandbox-runtime" | "just-bash" | "none";

export interface SandboxLimits {
  readonly timeoutMs: number;
  /** Of each stream that is kept; what comes after it is dropped and said so. */
  readonly maxOutputBytes: number;
  readonly maxProcesses?: number;
  readonly maxMemoryBytes?: number;
  readonly maxFileBytes?: number;
  /** Of everything in the work folder together. */
  readonly maxWorkBytes?: number;
}

export interface SandboxCommand {
  /** Executed as it is, without a shell; `["bash", "-c", text]` is how a shell is asked for. */
  readonly argv: readonly string[];
  readonly world: World;
  /** Default: the world's own. */
  readonly cwd?: string;
  /** On top of the minimal environment that the backend makes; nothing of the parent's environment gets in. */
  readonly env: Readonly<Record<string, string>>;
  /** A stream is passed on as it comes, for a process that is talked to while it runs. */
  readonly stdin?: string | Readable;
  /**
   * A Unix socket of the allow-list proxy (`src/egress`): with it the command reaches granted domains through the usual
   * proxy variables, and nothing else. Without it there is no network at all.
   */
  readonly egressSocket?: string;
  /**
   * A Unix socket of the capabilities (`src/capabilities`): with it `metier-sb capability` works, and answers as `ash-sb`
   * too. Where it is seen: `seenCapabilitySocket`; a backend that cannot show it refuses the command.
   */
  readonly capabilitySocket?: string;
  readonly limits: SandboxLimits;
  /** Ends the whole process tree. */
  readonly signal?: AbortSignal;
  onOutput?(stream: "stdout" | "stderr", chunk: Uint8Array): void;
}

export interface CommandOutcome {
  readonly ended: "exited" | "signalled" | "timeout" | "cancelled" | "limit" | "refused";
  /** Of a command that ended by a signal, 128 and the signal's number, as shells have it. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes that did not fit `maxOutputBytes`, of both streams together. */
  readonly droppedBytes: number;
  readonly durationMs: number;
  /** For `limit` and `refused`: which, in one sentence. */
  readonly reason?: string;
}

export interface Sandbox {
  readonly backend: SandboxBackend;
  /** Whether it starts programs of the machine (python3, node, git). `false`: a shell with commands of its own, no more. */
  readonly runsPrograms: boolean;
  run(command: SandboxCommand): Promise<CommandOutcome>;
}
