/**
 * Inline, where the text goes into the caller's own conversation, or isolated, in a loop of its own. The skill's own
 * word decides, then the configuration.
 */
import type { DefaultExecution } from "../config/config.ts";
import type { SkillManifest } from "../skill/manifest.ts";

export type Execution = "inline" | "isolated";

/**
 * `isolated`: a run, whatever the skill says. `text`: its instructions, unless it forks. `script`: one of its scripts,
 * which needs neither instructions nor what a model's loop needs.
 */
export type AskedExecution = "isolated" | "text" | "script";

export interface ExecutionWish {
  readonly asked?: AskedExecution | undefined;
  readonly configured: DefaultExecution;
}

export function chooseExecution(manifest: SkillManifest, { asked, configured }: ExecutionWish): Execution {
  if (asked === "isolated" || asked === "script" || manifest.context === "fork") return "isolated";
  if (asked === "text" || manifest.context === "inline") return "inline";
  if (configured !== "auto") return configured;
  return NEED_ISOLATION.some(({ isDeclared }) => isDeclared(manifest)) ? "isolated" : "inline";
}

/** A field that only an isolated run can honour. */
export interface RunField {
  readonly field: string;
  isDeclared(manifest: SkillManifest): boolean;
}

/** Declaring one of these makes `auto` isolate. */
export const NEED_ISOLATION: readonly RunField[] = [
  { field: "env", isDeclared: ({ env }) => env.length > 0 },
  { field: "capabilities", isDeclared: ({ capabilities }) => capabilities.length > 0 },
  { field: "packages", isDeclared: ({ packages }) => packages.length > 0 },
  { field: "max-iterations", isDeclared: ({ maxIterations }) => maxIterations !== undefined },
  { field: "input-schema", isDeclared: ({ inputSchema }) => inputSchema !== undefined },
  { field: "required-tools", isDeclared: ({ requiredTools }) => requiredTools.length > 0 },
  { field: "sandbox", isDeclared: ({ sandbox }) => sandbox !== undefined },
];
