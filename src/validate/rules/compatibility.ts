/** `compatibility`, when given, has 1 to 500 characters. */
import { MAX_COMPATIBILITY_LENGTH } from "../../skill/manifest-fields.ts";
import { countCharacters } from "../count-characters.ts";
import { findGiven } from "../read-fields.ts";
import type { Rule } from "../rule.ts";

export const compatibilityRule: Rule = {
  codes: ["compatibility.empty", "compatibility.too-long"],
  fields: ["compatibility"],
  check({ draft, fields }, report) {
    const given = findGiven(fields.known, "compatibility");
    if (given === undefined) return;
    const { key, value } = given;
    if (value === null || draft.compatibility === "") {
      delete draft.compatibility;
      report("compatibility.empty", "`compatibility` is empty.", {
        key,
        hint: "Give it a value or remove it.",
      });
    }
    const written = typeof value === "string" ? value : (draft.compatibility ?? "");
    const length = countCharacters(written, MAX_COMPATIBILITY_LENGTH);
    if (length <= MAX_COMPATIBILITY_LENGTH) return;
    report(
      "compatibility.too-long",
      `\`compatibility\` has ${length} characters; ${MAX_COMPATIBILITY_LENGTH} are allowed.`,
      {
        key,
        hint: "Shorten it; details belong into the body.",
      },
    );
  },
};
