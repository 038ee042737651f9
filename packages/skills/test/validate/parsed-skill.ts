/** Parsed skills for tests of the validate stage, made without the parser. */
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import type { SkillManifest } from "../../src/skill/manifest.ts";
import type { CheckedSkill, ParsedSkill, SkillForm } from "../../src/skill/skill.ts";
import type { Profile } from "../../src/validate/profiles.ts";
import { validateSkill } from "../../src/validate/validate-skill.ts";

export interface ParsedOptions {
  readonly body?: string;
  readonly form?: SkillForm;
  /** The folder's name. */
  readonly directory?: string;
  readonly file?: string;
  readonly diagnostics?: readonly Diagnostic[];
}

export type Frontmatter = Readonly<Record<string, Json>>;

/** Every key stands on a line of its own, from line 2. */
export function parsedSkill(frontmatter: Frontmatter | undefined, options: ParsedOptions = {}): ParsedSkill {
  const { form = "directory", directory = "demo", body = "Do the thing.", diagnostics = [] } = options;
  const file = options.file ?? { directory: "SKILL.md", markdown: "demo.md", yaml: "demo.yaml" }[form];
  const keys = Object.keys(frontmatter ?? {});
  return {
    candidate: {
      form,
      file: join("/skills", directory, file),
      directory: join("/skills", directory),
      defaultName: directory,
    },
    ...(frontmatter && { frontmatter }),
    body,
    bodyLine: keys.length + 3,
    position: (key) => (keys.includes(key) ? { line: keys.indexOf(key) + 2, column: 1 } : undefined),
    written: () => undefined,
    diagnostics,
  };
}

/** The fields of a sound skill named `demo`, and more. */
export function fields(more: Frontmatter = {}): Frontmatter {
  return { name: "demo", description: "Shows the thing. Use it in tests.", ...more };
}

export function check(
  frontmatter: Frontmatter | undefined,
  profile: Profile = "standard",
  options?: ParsedOptions,
): CheckedSkill {
  return validateSkill(parsedSkill(frontmatter, options), profile);
}

/** The manifest under `standard`; its absence fails the test. */
export function manifestOf(frontmatter: Frontmatter, options?: ParsedOptions): SkillManifest {
  const { manifest, diagnostics } = check(frontmatter, "standard", options);
  if (manifest === undefined) throw new Error(`The skill did not load: ${JSON.stringify(diagnostics)}`);
  return manifest;
}

/** `error name.grammar`, in order. */
export function findings(checked: Pick<CheckedSkill, "diagnostics">): readonly string[] {
  return checked.diagnostics.map(({ severity, code }) => `${severity} ${code}`);
}
