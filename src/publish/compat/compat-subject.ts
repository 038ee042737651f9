/** What of a skill file matters to other clients: what is written, not what Metier makes of it. */

import { MAX_SKILL_BYTES } from "../../catalog/read-skill.ts";
import { readBounded } from "../../host/read-bounded.ts";
import { parseSkill } from "../../parse/parse-skill.ts";
import { splitFrontmatter } from "../../parse/split-frontmatter.ts";
import type { Json, SkillManifest } from "../../skill/manifest.ts";
import type { ParsedSkill, SkillCandidate } from "../../skill/skill.ts";
import { validateSkill } from "../../validate/validate-skill.ts";

export interface CompatSubject {
  readonly candidate: SkillCandidate;
  /** The file as it stands. */
  readonly text: string;
  /** Between the fences, without them. */
  readonly yaml: string;
  readonly parsed: ParsedSkill;
  /** As Metier reads it; absent when it cannot be read at all. */
  readonly manifest?: SkillManifest;
  /** Keys and values as written. */
  readonly fields: Readonly<Record<string, Json>>;
}

/** What one client does with something that is written. */
export interface Remark {
  /** `breaks`: the skill is not loaded, or is loaded as another one. `note`: it is loaded, but worth knowing. */
  readonly effect: "breaks" | "note";
  /** The key as written, or what else it is about: `file`, `body`, `folder`. */
  readonly about: string;
  /** A sentence that begins with a capital. */
  readonly message: string;
}

export type SubjectOutcome =
  | { readonly ok: true; readonly subject: CompatSubject }
  | { readonly ok: false; readonly message: string };

export async function readSubject(candidate: SkillCandidate): Promise<SubjectOutcome> {
  const read = readBounded(candidate.file, MAX_SKILL_BYTES);
  if (!read.ok) return read;
  return { ok: true, subject: await makeSubject(candidate, read.text) };
}

export async function makeSubject(candidate: SkillCandidate, text: string): Promise<CompatSubject> {
  const parsed = await parseSkill(candidate, text);
  const { manifest } = validateSkill(parsed, "lenient");
  return {
    candidate,
    text,
    yaml: candidate.form === "yaml" ? text : (splitFrontmatter(text).yaml ?? ""),
    parsed,
    ...(manifest && { manifest }),
    fields: parsed.frontmatter ?? {},
  };
}

export function breaks(about: string, message: string): Remark {
  return { effect: "breaks", about, message };
}

export function note(about: string, message: string): Remark {
  return { effect: "note", about, message };
}
