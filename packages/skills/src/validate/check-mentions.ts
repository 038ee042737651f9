/** Checks whether files that a body names without a link are in the skill's folder. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { nearestNames, showValue } from "@metier/base/text";
import { findLinks } from "../parse/body.ts";
import { findMentions } from "../parse/mentions.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { createReport, type Profile } from "./profiles.ts";

const MAX_MENTIONS = 200;

export function checkMentions(parsed: ParsedSkill, profile: Profile): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const { directory, form } = parsed.candidate;
  if (form !== "directory" || directory === "") return found; // A flat file has no other files.
  const mentions = findMentions(parsed.body, MAX_MENTIONS);
  if (mentions.length === 0) return found;
  const report = createReport(parsed, profile, found);
  const linked = new Set(findLinks(parsed.body).map(({ path }) => posix.normalize(path)));
  for (const { path, line } of mentions) {
    if (linked.has(path) || existsSync(join(directory, path))) continue;
    const isScript = path.startsWith("scripts/");
    const what = isScript ? "script" : "file";
    const message = `The body names the ${what} ${showValue(path)}, which is not in the skill's folder.`;
    const near = nearestFile(directory, path);
    const hint =
      near === undefined
        ? `Add the ${what}, fix the path, or remove the mention; paths start at the skill's folder.`
        : `Did you mean \`${near}\`?`;
    report(isScript ? "script.missing" : "reference.missing", message, {
      line: parsed.bodyLine + line - 1,
      hint,
    });
  }
  return found;
}

const MOST_NAMES = 1000;

function nearestFile(directory: string, path: string): string | undefined {
  const folder = dirname(path);
  let names: readonly string[];
  try {
    names = readdirSync(join(directory, folder));
  } catch {
    return undefined; // There is no such folder, so there is nothing similar.
  }
  const [near] = nearestNames(posix.basename(path), names.slice(0, MOST_NAMES));
  return near === undefined ? undefined : `${folder}/${near}`;
}
