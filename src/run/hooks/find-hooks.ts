/** The hooks that a run has: those its own skill declares, once the skill is trusted. Nobody else's. */
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import type { Skill, Trust } from "../../skill/skill.ts";
import { type OwnTools, readRule } from "../../tools/policy-rules.ts";
import { trustAllows } from "../../trust/trust-policy.ts";
import { readHooks, type SkillHook } from "../../validate/read-hooks.ts";

export type RunHook = SkillHook & {
  /** Whether it is asked about calls of this tool. */
  isFor(tool: string): boolean;
};

export interface FoundHooks {
  readonly hooks: readonly RunHook[];
  /** What of them names no tool; what cannot be read was said when the skill was checked. */
  readonly diagnostics: readonly Diagnostic[];
}

const NONE: FoundHooks = { hooks: [], diagnostics: [] };

export interface HookPlace {
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly cwd: string;
  /** Tools of the embedding program, by their names. */
  readonly hostTools: readonly string[];
  /** Those that the skill brings itself. */
  readonly own?: OwnTools;
  /** Whether they are named without the skill. */
  readonly isBare: boolean;
}

export function findHooks(skill: Skill, { own, trust, ...place }: HookPlace): FoundHooks {
  const { hooks: written } = skill.manifest;
  if (written === undefined || !trustAllows(trust, "register-hooks")) return NONE;
  const diagnostics: Diagnostic[] = [];
  const path = skill.location;
  const hooks = readHooks(written, () => undefined);
  const source = { use: "deny", field: "hooks", path, ...place, ...(own && { own }) } as const;
  const withMatchers = hooks.map((hook): RunHook => {
    const rules = hook.tools.flatMap((name) => readRule(name, source, diagnostics) ?? []);
    const isFor = (tool: string): boolean => rules.length === 0 || rules.some((rule) => rule.isFor(tool));
    return { ...hook, isFor };
  });
  return { hooks: withMatchers, diagnostics };
}
