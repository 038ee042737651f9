/** The name is that of the directory. A skill whose name differs is loaded under its own name. */
import { findGiven } from "../read-fields.ts";
import { showValue } from "../report.ts";
import type { Rule } from "../rule.ts";

export const nameDirectoryRule: Rule = {
  codes: ["name.not-directory"],
  check({ parsed: { candidate }, draft, fields }, report) {
    if (candidate.form !== "directory" || draft.name === candidate.defaultName) return;
    const given = findGiven(fields.known, "name");
    const directory = candidate.defaultName.normalize("NFKC");
    const written = typeof given?.value === "string" ? given.value.trim() : draft.name;
    if (written === "" || given === undefined || given.value === null) return;
    if (draft.name === directory || written.normalize("NFKC") === directory) return;
    report(
      "name.not-directory",
      `\`name\` is ${showValue(written)}, but the directory is named ${showValue(candidate.defaultName)}.`,
      { key: given.key, hint: `Rename the directory to \`${draft.name}\`, or change \`name\`.` },
    );
  },
};
