/** What a run would be, as plain data: what `--dry-run` shows. Names of variables only, never their values. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { SandboxBackend } from "../sandbox/sandbox.ts";
import type { World } from "../sandbox/world.ts";
import type { TrustDecision } from "../skill/skill.ts";
import type { RunLimits } from "./run-limits.ts";
import type { SandboxUse } from "./run-result.ts";

export interface RunOutline {
  readonly skill: string;
  /** The skill file. */
  readonly location: string;
  readonly trust: TrustDecision["level"];
  readonly trustReason: string;
  readonly model: string;
  readonly tools: readonly string[];
  /** Names only. */
  readonly env: readonly string[];
  readonly sandbox: {
    readonly backend: SandboxBackend | "absent";
    readonly declared: SandboxUse;
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
