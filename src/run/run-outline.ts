/** What a run would be, as plain data: what `--dry-run` shows. Names of variables only, never their values. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { SandboxBackend } from "../sandbox/sandbox.ts";
import type { World } from "../sandbox/world.ts";
import type { TrustDecision } from "../skill/skill.ts";
import type { HookCommand, HookEvent } from "../validate/read-hooks.ts";
import type { RunLimits } from "./run-limits.ts";
import type { SandboxUse } from "./run-result.ts";

export interface HookOutline {
  readonly hook: HookEvent;
  /** Names and globs; none: every tool. */
  readonly tools: readonly string[];
  /** Words, or a line for `sh`; absent for one that cannot be read. */
  readonly command?: HookCommand;
}

export interface RunOutline {
  readonly skill: string;
  /** The skill file. */
  readonly location: string;
  readonly trust: TrustDecision["level"];
  readonly trustReason: string;
  readonly model: string;
  readonly tools: readonly string[];
  /** The skill's own, as it declares them: which tools they bring is known once a run has loaded them. */
  readonly toolsets: readonly string[];
  /** Commands of the skill around its tool calls and at its end. */
  readonly hooks: readonly HookOutline[];
  /** Names only. */
  readonly env: readonly string[];
  /** What the host performs for it, as it declares them. */
  readonly capabilities: readonly string[];
  readonly sandbox: {
    readonly backend: SandboxBackend | "absent";
    readonly declared: SandboxUse;
    /** What the run may reach beyond its own folders; paths are absolute. */
    readonly granted: SandboxUse;
    /** Domains the run may reach. */
    readonly network: readonly string[];
    readonly world: World;
  };
  readonly limits: RunLimits;
  readonly system: string;
  /** The first turn. */
  readonly message: string;
  readonly diagnostics: readonly Diagnostic[];
}
