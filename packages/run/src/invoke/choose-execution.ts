/**
 * Inline, where the text goes into the caller's conversation, or isolated, in its own loop: the skill decides first,
 * then the configuration. Also reports which of its fields then have no effect.
 */

import type { Diagnostic } from "@metier/base/diagnostic";
import { forReader } from "@metier/base/text";
import { MANIFEST_FIELDS, type Skill, type SkillManifest } from "@metier/skills";
import type { DefaultExecution } from "@metier/skills/config";
import { type TrustedThing, trustAllows } from "@metier/skills/trust";
import type { EffectiveTrust } from "./conversation-trust.ts";

export type Execution = "inline" | "isolated";

/**
 * `isolated`: a run, whatever the skill says. `text`: its instructions, unless it forks. `script`: one of its scripts,
 * which needs neither instructions nor anything for a model's loop.
 */
export type AskedExecution = "isolated" | "text" | "script";

interface ExecutionWish {
  readonly asked?: AskedExecution | undefined;
  readonly configured: DefaultExecution;
}

export function chooseExecution(manifest: SkillManifest, { asked, configured }: ExecutionWish): Execution {
  if (asked === "isolated" || asked === "script" || manifest.context === "fork") return "isolated";
  if (asked === "text" || manifest.context === "inline") return "inline";
  if (configured !== "auto") return configured;
  return NEED_ISOLATION.some(({ isDeclared }) => isDeclared(manifest)) ? "isolated" : "inline";
}

/** A field that only works in an isolated run. */
interface RunField {
  readonly field: string;
  isDeclared(manifest: SkillManifest): boolean;
}

/** If one of these is declared, `auto` isolates. */
export const NEED_ISOLATION: readonly RunField[] = [
  { field: "env", isDeclared: ({ env }) => env.length > 0 },
  { field: "capabilities", isDeclared: ({ capabilities }) => capabilities.length > 0 },
  { field: "packages", isDeclared: ({ packages }) => packages.length > 0 },
  { field: "max-iterations", isDeclared: ({ maxIterations }) => maxIterations !== undefined },
  { field: "input-schema", isDeclared: ({ inputSchema }) => inputSchema !== undefined },
  { field: "output-schema", isDeclared: ({ outputSchema }) => outputSchema !== undefined },
  { field: "required-tools", isDeclared: ({ requiredTools }) => requiredTools.length > 0 },
  { field: "sandbox", isDeclared: ({ sandbox }) => sandbox !== undefined },
];

/** Nothing a skill declares is dropped silently: which of its fields have no effect here, and why. */
export function reportFields(
  skill: Skill,
  execution: Execution,
  trust: EffectiveTrust,
): readonly Diagnostic[] {
  const { name, manifest } = skill;
  const isInline = execution === "inline";
  const found = [
    {
      code: "invoke.not-honoured",
      fields: isInline ? lostInline(manifest) : [],
      state: "activated inline, where these have no effect",
      hint: forReader({
        command: `They work in an isolated run: \`metier run ${name}\`, or \`context: fork\` in the skill.`,
        program: `They work in an isolated run: \`run({ skill: "${name}" })\`, or \`context: fork\` in the skill.`,
      }),
    },
    {
      code: "invoke.not-honoured",
      fields: isInline ? [] : idleFields(manifest),
      state: "run without these, which Metier does not support",
      hint: "Check that the skill works without them.",
    },
    {
      code: "invoke.withheld",
      fields: withheldFrom(manifest, trust),
      state: "untrusted here, so these have no effect",
      why: ` ${trust.reason}`,
      hint: trust.hint,
    },
  ] as const;
  return found
    .filter(({ fields }) => fields.length > 0)
    .map(({ code, fields, state, hint, ...more }) => {
      const message = `\`${name}\` is ${state}: ${fields.join(", ")}.${"why" in more ? more.why : ""}`;
      return { code, severity: "warning", path: pathOf(skill), message, hint };
    });
}

/** Where a diagnostic about a skill points. */
export function pathOf({ location, name }: Skill): string {
  return location || `integration:${name}`;
}

/** Also works only in an isolated run, but is no reason for one. */
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

/** Inline input is checked against its schema too. */
const HONOURED_INLINE = new Set(["input-schema"]);

function lostInline(manifest: SkillManifest): readonly string[] {
  return [...NEED_ISOLATION, ...LOST_INLINE]
    .filter(({ field, isDeclared }) => !HONOURED_INLINE.has(field) && isDeclared(manifest))
    .map(({ field }) => (field === "allowed-tools" ? "`allowed-tools` as a restriction" : `\`${field}\``));
}

/** Fields that Metier doesn't support, from the table of all fields. */
function idleFields(manifest: SkillManifest): readonly string[] {
  return MANIFEST_FIELDS.filter(({ honouredBy, property }) => !honouredBy && isGiven(manifest[property])).map(
    ({ name }) => `\`${name}\``,
  );
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

interface TrustedField {
  /** As shown in a message. */
  readonly what: string;
  readonly needs: TrustedThing;
  valueIn(manifest: SkillManifest): unknown;
}

const TRUSTED_FIELDS: readonly TrustedField[] = [
  {
    what: "`allowed-tools` as an approval",
    needs: "pre-approve-tools",
    valueIn: ({ allowedTools }) => allowedTools,
  },
  { what: "`agent`", needs: "fork-by-own-word", valueIn: ({ agent }) => agent },
  { what: "`hooks`", needs: "register-hooks", valueIn: ({ hooks }) => hooks },
  { what: "`toolsets`", needs: "load-toolsets", valueIn: ({ toolsets }) => toolsets },
  { what: "`capabilities`", needs: "use-capabilities", valueIn: ({ capabilities }) => capabilities },
  { what: "`sandbox.network`", needs: "use-network", valueIn: ({ sandbox }) => sandbox?.network },
  { what: "`sandbox.read`", needs: "read-working-directory", valueIn: ({ sandbox }) => sandbox?.read },
  { what: "`sandbox.write`", needs: "write-working-directory", valueIn: ({ sandbox }) => sandbox?.write },
];

function withheldFrom(manifest: SkillManifest, { level }: EffectiveTrust): readonly string[] {
  return TRUSTED_FIELDS.filter(
    ({ needs, valueIn }) => !trustAllows(level, needs) && isGiven(valueIn(manifest)),
  ).map(({ what }) => what);
}
