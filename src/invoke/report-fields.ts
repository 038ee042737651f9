/** Nothing a skill declares is dropped silently: which of its fields have no effect here, and why. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import { MANIFEST_FIELDS } from "../skill/manifest-fields.ts";
import type { Skill } from "../skill/skill.ts";
import { type TrustedThing, trustAllows } from "../trust/trust-policy.ts";
import { type Execution, NEED_ISOLATION, type RunField } from "./choose-execution.ts";
import type { EffectiveTrust } from "./effective-trust.ts";

export function reportFields(
  skill: Skill,
  execution: Execution,
  trust: EffectiveTrust,
): readonly Diagnostic[] {
  const lost = execution === "inline" ? lostInline(skill.manifest) : [];
  const idle = execution === "isolated" ? idleFields(skill.manifest) : [];
  const withheld = withheldFrom(skill.manifest, trust);
  return [
    ...(lost.length > 0 ? [reportLost(skill, lost)] : []),
    ...(idle.length > 0 ? [reportIdle(skill, idle)] : []),
    ...(withheld.length > 0 ? [reportWithheld(skill, withheld, trust)] : []),
  ];
}

/** Where a diagnostic about a skill points. */
export function pathOf({ location, name }: Skill): string {
  return location || `integration:${name}`;
}

/** What an isolated run honours as well, but that is no reason for one. */
const LOST_INLINE: readonly RunField[] = [
  { field: "model", isDeclared: ({ model }) => model !== undefined },
  { field: "effort", isDeclared: ({ effort }) => effort !== undefined },
  { field: "allowed-tools", isDeclared: ({ allowedTools = [] }) => allowedTools.length > 0 },
  { field: "disallowed-tools", isDeclared: ({ disallowedTools }) => disallowedTools.length > 0 },
  { field: "agent", isDeclared: ({ agent }) => agent !== undefined },
  { field: "background", isDeclared: ({ background }) => background === true },
  { field: "hooks", isDeclared: ({ hooks }) => hooks !== undefined },
  { field: "toolsets", isDeclared: ({ toolsets }) => toolsets.length > 0 },
];

/** Input is held to its schema inline too. */
const HONOURED_INLINE = new Set(["input-schema"]);

function lostInline(manifest: SkillManifest): readonly string[] {
  return [...NEED_ISOLATION, ...LOST_INLINE]
    .filter(({ field, isDeclared }) => !HONOURED_INLINE.has(field) && isDeclared(manifest))
    .map(({ field }) => (field === "allowed-tools" ? "`allowed-tools` as a restriction" : `\`${field}\``));
}

/** What no stage of this version acts on, by the table of all fields. */
function idleFields(manifest: SkillManifest): readonly string[] {
  return MANIFEST_FIELDS.filter(({ honouredBy, property }) => !honouredBy && isGiven(manifest[property])).map(
    ({ name }) => `\`${name}\``,
  );
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

interface TrustedField {
  /** As a message says it. */
  readonly what: string;
  readonly needs: TrustedThing;
  isDeclared(manifest: SkillManifest): boolean;
}

const TRUSTED_FIELDS: readonly TrustedField[] = [
  {
    what: "`allowed-tools` as an approval",
    needs: "pre-approve-tools",
    isDeclared: ({ allowedTools = [] }) => allowedTools.length > 0,
  },
  { what: "`agent`", needs: "fork-by-own-word", isDeclared: ({ agent }) => agent !== undefined },
  { what: "`hooks`", needs: "register-hooks", isDeclared: ({ hooks }) => hooks !== undefined },
  { what: "`toolsets`", needs: "load-toolsets", isDeclared: ({ toolsets }) => toolsets.length > 0 },
  {
    what: "`capabilities`",
    needs: "use-capabilities",
    isDeclared: ({ capabilities }) => capabilities.length > 0,
  },
  {
    what: "`sandbox.network`",
    needs: "use-network",
    isDeclared: ({ sandbox }) => (sandbox?.network.length ?? 0) > 0,
  },
  {
    what: "`sandbox.read`",
    needs: "read-working-directory",
    isDeclared: ({ sandbox }) => (sandbox?.read.length ?? 0) > 0,
  },
  {
    what: "`sandbox.write`",
    needs: "write-working-directory",
    isDeclared: ({ sandbox }) => (sandbox?.write.length ?? 0) > 0,
  },
];

function withheldFrom(manifest: SkillManifest, { level }: EffectiveTrust): readonly string[] {
  return TRUSTED_FIELDS.filter(
    ({ needs, isDeclared }) => !trustAllows(level, needs) && isDeclared(manifest),
  ).map(({ what }) => what);
}

function reportLost(skill: Skill, fields: readonly string[]): Diagnostic {
  return {
    code: "invoke.not-honoured",
    severity: "warning",
    path: pathOf(skill),
    message: `\`${skill.name}\` is activated inline, where this is not honoured: ${fields.join(", ")}.`,
    hint: `An isolated run honours it: \`metier run ${skill.name}\`, or \`context: fork\` in the skill.`,
  };
}

function reportIdle(skill: Skill, fields: readonly string[]): Diagnostic {
  return {
    code: "invoke.not-honoured",
    severity: "warning",
    path: pathOf(skill),
    message: `\`${skill.name}\` is run without this, which this version does not act on: ${fields.join(", ")}.`,
    hint: "Check that the skill can do without.",
  };
}

function reportWithheld(skill: Skill, fields: readonly string[], trust: EffectiveTrust): Diagnostic {
  return {
    code: "invoke.withheld",
    severity: "warning",
    path: pathOf(skill),
    message: `\`${skill.name}\` is untrusted here, so this has no effect: ${fields.join(", ")}. ${trust.reason}`,
    hint: trust.hint,
  };
}
