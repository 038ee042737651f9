/** The published specification knows one form, a folder with `SKILL.md`. */
import { basename, sep } from "node:path";
import type { Rule } from "../rule.ts";

const USUAL_END = `${sep}SKILL.md`;

export const skillFileRule: Rule = {
  codes: ["skill-file.name", "skill-file.flat"],
  check({ parsed: { candidate } }, report) {
    if (candidate.form === "directory" && candidate.file.endsWith(USUAL_END)) return;
    // A skill given as an object has no file.
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
