/** What the published specification requires of every skill: its file, name, description, compatibility and body. */
import { basename, sep } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { showValue } from "@metier/base/text";
import { MAX_COMPATIBILITY_LENGTH, MAX_DESCRIPTION_LENGTH } from "../../skill/manifest-fields.ts";
import type { ParsedSkill } from "../../skill/skill.ts";
import {
  isPlainSkillName,
  isSkillName,
  MAX_NAME_LENGTH,
  normaliseSkillName,
  skillNameFaults,
} from "../../skill/skill-name.ts";
import { findGiven, keyOf } from "../build-manifest.ts";
import { createReport, type Profile, type Report } from "../profiles.ts";
import type { Rule, RuleSubject } from "../validate-skill.ts";

const RESERVED_WORDS = /anthropic|claude/;

/** The name must match the grammar; an invalid one is normalized, and a missing one comes from the directory. */
export const nameRule: Rule = {
  codes: ["name.missing", "name.grammar", "name.not-plain", "name.reserved"],
  check(subject, report) {
    const { draft, fields } = subject;
    const isUsual = draft.name.length <= MAX_NAME_LENGTH && isPlainSkillName(draft.name);
    if (!isUsual) settleName(subject, report);
    if (RESERVED_WORDS.test(draft.name)) {
      const message = `\`name\` is ${showValue(draft.name)}; claude.ai reserves \`anthropic\` and \`claude\`.`;
      report("name.reserved", message, { key: keyOf(fields.known, "name") });
    }
  },
};

function settleName(subject: RuleSubject, report: Report): void {
  const { draft, fields } = subject;
  const key = keyOf(fields.known, "name");
  if (draft.name === "") takeDirectoryName(subject, key, report);
  else if (!isSkillName(draft.name)) normaliseName(subject, key, report);
  else draft.name = draft.name.normalize("NFKC");
  if (isPlainSkillName(draft.name)) return;
  const message = `\`name\` is ${showValue(draft.name)}; some clients accept only a–z, 0–9 and hyphens.`;
  report("name.not-plain", message, { key });
}

function takeDirectoryName({ draft, parsed, fields }: RuleSubject, key: string, report: Report): void {
  const { defaultName, form } = parsed.candidate;
  draft.name = nameOfPlace(defaultName);
  if (draft.name !== defaultName) draft.displayName ??= defaultName;
  const place = form === "directory" ? "directory" : "file";
  const missing = findGiven(fields.known, "name") ? "`name` is empty" : "`name` is missing";
  report("name.missing", `${missing}; the skill is named ${showValue(draft.name)} after its ${place}.`, {
    key,
    hint: `Add \`name: ${draft.name}\`.`,
  });
}

function normaliseName({ draft, parsed }: RuleSubject, key: string, report: Report): void {
  const written = draft.name;
  draft.displayName ??= written;
  draft.name = normaliseSkillName(written) || nameOfPlace(parsed.candidate.defaultName);
  const message = `\`name\` is ${showValue(written)}, which ${skillNameFaults(written).join(" and ")}.`;
  const hint = `Write \`name: ${draft.name}\`: lowercase letters, digits and single hyphens, at most 64.`;
  report("name.grammar", message, { key, hint });
}

function nameOfPlace(defaultName: string): string {
  return normaliseSkillName(defaultName) || "skill";
}

/** The name must be the directory's. A skill with a different name is loaded under its own. */
export const nameDirectoryRule: Rule = {
  codes: ["name.not-directory"],
  check({ parsed: { candidate }, draft, fields }, report) {
    if (candidate.form !== "directory" || draft.name === candidate.defaultName) return;
    const given = findGiven(fields.known, "name");
    const directory = candidate.defaultName.normalize("NFKC");
    const written = typeof given?.value === "string" ? given.value.trim() : draft.name;
    if (written === "" || given === undefined || given.value === null) return;
    if (draft.name === directory || written.normalize("NFKC") === directory) return;
    const message = `\`name\` is ${showValue(written)}, but the directory is named ${showValue(candidate.defaultName)}.`;
    const hint = `Rename the directory to \`${draft.name}\`, or change \`name\`.`;
    report("name.not-directory", message, { key: given.key, hint });
  },
};

const TAG = /<\/?[a-z][^<>]{0,200}>/i;

/** There must be a description, of a size that every client accepts. */
export const descriptionRule: Rule = {
  codes: ["description.missing", "description.too-long", "description.markup"],
  check({ draft, fields }, report) {
    const given = findGiven(fields.known, "description");
    const key = given?.key ?? "description";
    if (draft.description === "") {
      report("description.missing", given ? "`description` is empty." : "`description` is missing.", {
        key,
        hint: "Add a `description:` that says what the skill does and when to use it; models choose skills by it.",
      });
      return;
    }
    const written = typeof given?.value === "string" ? given.value : draft.description;
    const length = countCharacters(written, MAX_DESCRIPTION_LENGTH);
    if (length > MAX_DESCRIPTION_LENGTH) {
      const message = `\`description\` has ${length} characters; the limit is ${MAX_DESCRIPTION_LENGTH}.`;
      const hint = "Keep what a model needs to choose the skill; move the rest into the body.";
      report("description.too-long", message, { key, hint });
    }
    if (draft.description.includes("<") && TAG.test(draft.description)) {
      const message = "`description` contains a tag such as `<…>`, which claude.ai does not accept.";
      report("description.markup", message, { key });
    }
  },
};

/** `compatibility`, if given, has 1 to 500 characters. */
export const compatibilityRule: Rule = {
  codes: ["compatibility.empty", "compatibility.too-long"],
  fields: ["compatibility"],
  check({ draft, fields }, report) {
    const given = findGiven(fields.known, "compatibility");
    if (given === undefined) return;
    const { key, value } = given;
    if (value === null || draft.compatibility === "") {
      delete draft.compatibility;
      const hint = "Give it a value or remove it.";
      report("compatibility.empty", "`compatibility` is empty.", { key, hint });
    }
    const written = typeof value === "string" ? value : (draft.compatibility ?? "");
    const length = countCharacters(written, MAX_COMPATIBILITY_LENGTH);
    if (length <= MAX_COMPATIBILITY_LENGTH) return;
    const message = `\`compatibility\` has ${length} characters; the limit is ${MAX_COMPATIBILITY_LENGTH}.`;
    report("compatibility.too-long", message, { key, hint: "Shorten it; move details into the body." });
  },
};

/** Length in Unicode characters, counted only if it can exceed `limit`; below that the cheap length is enough. */
function countCharacters(text: string, limit: number): number {
  return text.length <= limit ? text.length : [...text].length;
}

const USUAL_END = `${sep}SKILL.md`;

/** The published specification has one form, a folder with `SKILL.md`. */
export const skillFileRule: Rule = {
  codes: ["skill-file.name", "skill-file.flat"],
  check({ parsed: { candidate } }, report) {
    if (candidate.form === "directory" && candidate.file.endsWith(USUAL_END)) return;
    // A skill defined in code has no file.
    if (candidate.file === "") return;
    const name = basename(candidate.file);
    if (candidate.form !== "directory") {
      report("skill-file.flat", `\`${name}\` is a flat skill file, which other clients do not find.`, {
        hint: `Move it to \`${candidate.defaultName}/SKILL.md\`.`,
      });
    } else if (name !== "SKILL.md" && name !== "skill.md") {
      report("skill-file.name", `The skill file is named \`${name}\`, which other clients do not find.`, {
        hint: "Rename it to `SKILL.md`.",
      });
    }
  },
};

const MAX_TOKENS = 5000;
/** Local models often run with a context of 32,000 tokens, and the tools and the task need room too. */
const FLOODING_TOKENS = 20_000;
const MAX_LINES = 500;
const CHARACTERS_PER_TOKEN = 4;
const SHORTEN =
  "Move details into files under `references/` and name them here; a model reads them when it needs them.";

/** There must be instructions, of a size that suits a model's attention. */
export const bodyRule: Rule = {
  codes: ["body.empty", "body.too-long", "body.too-many-lines"],
  check({ parsed, body }, report) {
    const line = parsed.bodyLine;
    if (body.characters === 0) {
      const message = "There are no instructions after the frontmatter.";
      report("body.empty", message, { line, hint: "Write what the model should do below it." });
    }
    const tokens = Math.ceil(body.characters / CHARACTERS_PER_TOKEN);
    if (tokens > MAX_TOKENS) {
      const message = `The body has about ${tokens} tokens; the recommended maximum is ${MAX_TOKENS}.`;
      report("body.too-long", message, { line, hint: SHORTEN });
    }
    if (body.lines > MAX_LINES) {
      const message = `The body has ${body.lines} lines; the recommended maximum is ${MAX_LINES}.`;
      report("body.too-many-lines", message, { line, hint: SHORTEN });
    }
  },
};

/** What `bodyRule` estimated, counted by a tokenizer. */
export function measureBody(
  found: readonly Diagnostic[],
  parsed: ParsedSkill,
  profile: Profile,
  countTokens: (text: string) => number,
): readonly Diagnostic[] {
  const tokens = countTokens(parsed.body);
  const measured = found.filter(({ code }) => code !== "body.too-long");
  const report = createReport(parsed, profile, measured);
  const line = parsed.bodyLine;
  const size = `The body has ${tokens.toLocaleString("en-US")} tokens`;
  if (tokens > FLOODING_TOKENS) {
    const message = `${size}, which fill most of a small model's context as soon as the skill is used.`;
    report("body.floods-context", message, { line, hint: SHORTEN });
  } else if (tokens > MAX_TOKENS) {
    const most = MAX_TOKENS.toLocaleString("en-US");
    report("body.too-long", `${size}; keep it below ${most}.`, { line, hint: SHORTEN });
  }
  return measured;
}
