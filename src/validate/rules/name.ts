/** The name is in the grammar; a name outside it is normalised, and the directory gives a missing one. */
import {
  isPlainSkillName,
  isSkillName,
  MAX_NAME_LENGTH,
  normaliseSkillName,
  skillNameFaults,
} from "../../skill/skill-name.ts";
import { findGiven, keyOf } from "../read-fields.ts";
import { type Report, showValue } from "../report.ts";
import type { Rule, RuleSubject } from "../rule.ts";

const RESERVED_WORDS = /anthropic|claude/;

export const nameRule: Rule = {
  codes: ["name.missing", "name.grammar", "name.not-plain", "name.reserved"],
  check(subject, report) {
    const { draft, fields } = subject;
    const isUsual = draft.name.length <= MAX_NAME_LENGTH && isPlainSkillName(draft.name);
    if (!isUsual) settleName(subject, report);
    if (RESERVED_WORDS.test(draft.name)) {
      report(
        "name.reserved",
        `\`name\` is ${showValue(draft.name)}; claude.ai reserves \`anthropic\` and \`claude\`.`,
        { key: keyOf(fields.known, "name") },
      );
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
  report(
    "name.not-plain",
    `\`name\` is ${showValue(draft.name)}; some clients accept only a–z, 0–9 and hyphens.`,
    { key },
  );
}

function takeDirectoryName({ draft, parsed, fields }: RuleSubject, key: string, report: Report): void {
  const { defaultName, form } = parsed.candidate;
  draft.name = nameOfPlace(defaultName);
  if (draft.name !== defaultName) draft.displayName ??= defaultName;
  const place = form === "directory" ? "directory" : "file";
  const missing = findGiven(fields.known, "name") ? "`name` is empty" : "There is no `name`";
  report("name.missing", `${missing}; the skill is named ${showValue(draft.name)} after its ${place}.`, {
    key,
    hint: `Add \`name: ${draft.name}\`.`,
  });
}

function normaliseName({ draft, parsed }: RuleSubject, key: string, report: Report): void {
  const written = draft.name;
  draft.displayName ??= written;
  draft.name = normaliseSkillName(written) || nameOfPlace(parsed.candidate.defaultName);
  report(
    "name.grammar",
    `\`name\` is ${showValue(written)}, which ${skillNameFaults(written).join(" and ")}.`,
    {
      key,
      hint: `Write \`name: ${draft.name}\`: lower-case letters, digits and single hyphens, at most 64.`,
    },
  );
}

function nameOfPlace(defaultName: string): string {
  return normaliseSkillName(defaultName) || "skill";
}
