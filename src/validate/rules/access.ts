/**
 * `access` says in which types of chat a skill may be invoked. What is not understood could be a restriction,
 * so the skill then counts as sensitive.
 */
import { toKebabCase } from "../../foundation/spelling.ts";
import { coerceList } from "../coerce-list.ts";
import { isMap } from "../json-kinds.ts";
import { findGiven } from "../read-fields.ts";
import { type Report, showValue } from "../report.ts";
import type { Rule, RuleSubject } from "../rule.ts";

export const accessRule: Rule = {
  codes: ["access.unclear"],
  fields: ["access"],
  check(subject, report) {
    const given = findGiven(subject.fields.known, "access");
    if (given === undefined || given.value === null) return;
    if (!isMap(given.value)) {
      refuse(subject, given.key, `\`${given.key}\` is ${showValue(given.value)}, not a map.`, report);
      return;
    }
    for (const [key, value] of Object.entries(given.value)) {
      const inner = { ...given, key: `${given.key}.${key}`, value };
      const types =
        toKebabCase(key) === "chat-types" ? coerceList(inner, { separator: "words" }, report) : undefined;
      if (types !== undefined) subject.draft.chatTypes = types.map((type) => type.toLowerCase());
      else refuse(subject, given.key, `\`${inner.key}\` is not understood.`, report);
    }
  },
};

function refuse({ draft }: RuleSubject, key: string, message: string, report: Report): void {
  draft.sensitive = true;
  report("access.unclear", `${message} Until it is, the skill counts as \`sensitive\`.`, {
    key,
    hint: "Write `chat-types` below it, with a list such as `[private]`.",
  });
}
