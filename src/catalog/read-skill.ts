/** One candidate from disk to a checked skill. Reads the whole file once and keeps none of its body. */
import type { BigIntStats } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { readBounded } from "../host/read-bounded.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import type { CheckedSkill, ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import { type Profile, severityIn } from "../validate/profiles.ts";
import { validateSkill } from "../validate/validate-skill.ts";

/** `validateSkill` to load, `inspectSkill` to tell an author everything. */
export type CheckSkill = (parsed: ParsedSkill, profile: Profile) => CheckedSkill;

/** Larger than any skill file; anything above is not read. */
export const MAX_SKILL_BYTES: number = 4 * 1024 * 1024;

export interface ReadSkill {
  readonly checked: CheckedSkill;
  /** Of the opened file; absent when it could not be opened. */
  readonly stats?: BigIntStats;
}

/** At once where the parser can; `await` takes both. Thousands of promises would cost more than the reading. */
export function readSkill(
  candidate: SkillCandidate,
  profile: Profile,
  check: CheckSkill = validateSkill,
): ReadSkill | Promise<ReadSkill> {
  const read = readBounded(candidate.file, MAX_SKILL_BYTES);
  if (!read.ok) return { checked: unreadable(candidate.file, read) };
  const finish = (parsed: ParsedSkill): ReadSkill =>
    finishReading(candidate, check(parsed, profile), read, profile);
  const parsed = parseSkill(candidate, read.text);
  return parsed instanceof Promise ? parsed.then(finish) : finish(parsed);
}

function finishReading(
  { file }: SkillCandidate,
  checked: CheckedSkill,
  read: { readonly notUtf8: boolean; readonly stats: BigIntStats },
  profile: Profile,
): ReadSkill {
  return { checked: read.notUtf8 ? withEncodingNote(checked, file, profile) : checked, stats: read.stats };
}

function unreadable(
  path: string,
  { reason, message, size }: { readonly reason: string; readonly message: string; readonly size?: number },
): CheckedSkill {
  const diagnostic: Diagnostic =
    reason === "too-large"
      ? {
          code: "file.too-large",
          severity: "error",
          path,
          line: 1,
          message: `The file has ${size ?? "too many"} bytes; a skill file may have ${MAX_SKILL_BYTES}.`,
          hint: "Move long material to files of its own in the skill's folder.",
        }
      : {
          code: "file.unreadable",
          severity: "error",
          path,
          line: 1,
          message,
          hint: "Check that it is a regular file and its permissions.",
        };
  return { diagnostics: [diagnostic], valid: false, body: { lines: 0, characters: 0 } };
}

function withEncodingNote(checked: CheckedSkill, path: string, profile: Profile): CheckedSkill {
  const severity = severityIn(profile, "file.not-utf8");
  if (severity === "off") return checked;
  const diagnostic: Diagnostic = {
    code: "file.not-utf8",
    severity,
    path,
    line: 1,
    message: "The file is not UTF-8; what could not be read was replaced.",
    hint: "Save it as UTF-8.",
  };
  const valid = checked.valid && severity !== "error";
  const diagnostics = [...checked.diagnostics, diagnostic];
  if (valid || profile !== "strict") return { ...checked, valid, diagnostics };
  const { manifest: _, ...rest } = checked; // `strict` loads only what is valid.
  return { ...rest, valid, diagnostics };
}
