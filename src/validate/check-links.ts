/** Whether the links in a body lead to files of the skill. Looks at the disk, so only `validate` asks. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isInside } from "../host/places.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { findLinks } from "./find-links.ts";
import type { Profile } from "./profiles.ts";
import { createReport, showValue } from "./report.ts";

const MAX_LINKS = 500;

export function checkLinks(parsed: ParsedSkill, profile: Profile): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = createReport(parsed, profile, found);
  const { directory } = parsed.candidate;
  // A skill given as an object has no folder for its links to lead to.
  const links = directory === "" ? [] : findLinks(parsed.body, MAX_LINKS + 1);
  for (const link of links.slice(0, MAX_LINKS)) {
    const line = parsed.bodyLine + link.line - 1;
    const target = resolve(directory, link.path);
    if (!isInside(target, directory)) {
      report("reference.outside", `The link ${showValue(link.path)} leads out of the skill's folder.`, {
        line,
        hint: "Copy the file into the folder: a skill is installed and read without its surroundings.",
      });
    } else if (!existsSync(target)) {
      report("reference.dangling", `The link ${showValue(link.path)} leads to no file.`, {
        line,
        hint: "Add the file, correct the path, or remove the link; paths start at the skill's folder.",
      });
    }
  }
  if (links.length > MAX_LINKS) {
    report(
      "reference.limit",
      `The body has more than ${MAX_LINKS} links; the first ${MAX_LINKS} were checked.`,
    );
  }
  return found;
}
