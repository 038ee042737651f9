/**
 * `validate --fix`: writes back the repairs that are safe. A fix is kept only when the file is then read as the same
 * skill with fewer findings; everything that a fix is not about stays byte for byte.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import type { Json, SkillManifest } from "../skill/manifest.ts";
import { findManifestFieldInAnyCase } from "../skill/manifest-fields.ts";
import type { ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import { type FixableFile, openFile } from "./fix/fixable-file.ts";
import { FIXES } from "./fix/fixes.ts";
import { isSameReading } from "./fix/same-reading.ts";
import type { Profile } from "./profiles.ts";
import { validateSkill } from "./validate-skill.ts";

export interface FixedSkill {
  readonly text: string;
  /** The findings that are gone, in the order in which they were fixed. */
  readonly fixed: readonly Diagnostic[];
}

interface Reading {
  readonly text: string;
  readonly parsed: ParsedSkill;
  readonly diagnostics: readonly Diagnostic[];
  /** Under `lenient`, so that there is one to compare wherever there is anything to fix. */
  readonly manifest: SkillManifest | undefined;
  /** What is written, but has no place in the manifest. */
  readonly unknown: Readonly<Record<string, Json>>;
}

export async function fixSkill(
  text: string,
  candidate: SkillCandidate,
  profile: Profile = "standard",
): Promise<FixedSkill> {
  const fixed: Diagnostic[] = [];
  let reading = await read(text, candidate, profile);
  for (;;) {
    const step = await fixOne(reading, profile);
    if (step === undefined) return { text: reading.text, fixed };
    fixed.push(step.finding);
    reading = step.reading;
  }
}

/** The first finding that can be fixed. Each fix leaves fewer findings, so this comes to an end. */
async function fixOne(
  before: Reading,
  profile: Profile,
): Promise<{ readonly reading: Reading; readonly finding: Diagnostic } | undefined> {
  if (before.manifest === undefined) return undefined;
  const file = openFile(before.text, before.parsed, before.manifest);
  for (const finding of before.diagnostics) {
    for (const text of proposals(file, finding)) {
      const reading = await read(text, before.parsed.candidate, profile);
      if (isBetter(reading, before)) return { reading, finding };
    }
  }
  return undefined;
}

function* proposals(file: FixableFile, { code, line = 1 }: Diagnostic): Iterable<string> {
  for (const fix of FIXES[code] ?? []) yield* fix(file, line);
}

async function read(text: string, candidate: SkillCandidate, profile: Profile): Promise<Reading> {
  const parsed = await parseSkill(candidate, text);
  const { diagnostics } = validateSkill(parsed, profile);
  const { manifest } = validateSkill(parsed, "lenient");
  const entries = Object.entries(parsed.frontmatter ?? {});
  const unknown = Object.fromEntries(entries.filter(([key]) => !findManifestFieldInAnyCase(key)));
  return { text, parsed, diagnostics, manifest, unknown };
}

function isBetter(after: Reading, before: Reading): boolean {
  return (
    after.diagnostics.length < before.diagnostics.length &&
    after.parsed.body === before.parsed.body &&
    isSameReading(after.manifest, before.manifest) &&
    isSameReading(after.unknown, before.unknown)
  );
}
