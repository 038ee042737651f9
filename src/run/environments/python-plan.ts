/**
 * The Python packages of a skill, by its `requirements.lock` or `requirements.txt`: one exact version on each line, with
 * digests or without. The installer is given these lines and nothing else of the file, so that no option, address or path
 * of it takes effect.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { showPath } from "../../host/contained-path.ts";
import { environmentFault, type PlanReading, readSkillFile } from "./environment-plan.ts";

const FILES = ["requirements.lock", "requirements.txt"];

/** Of other tools; each of them can write the lines that are read here. */
const OTHER_LOCKS = ["uv.lock", "pylock.toml", "poetry.lock", "Pipfile.lock"];
/** One of them is there where a skill wants packages. */
export const PYTHON_FILES: readonly string[] = [...FILES, ...OTHER_LOCKS];
const EXPORT =
  "Export it to `requirements.lock`, as `uv export --no-dev`, `poetry export` and `pipenv requirements` do.";

const PIN =
  "Write `name==1.2.3` for every package, also for those that others need; `pip freeze` prints such lines.";

/** A name, extras, one exact version, a marker, digests. */
const REQUIREMENT =
  /^(?<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?<extras>\s*\[[\w.,\s-]*\])?\s*===?\s*(?<version>[A-Za-z0-9][\w.!+-]*)(?<marker>\s*;(?:(?!\s--)[\w\s.,'"<>=!~()-])*?)?(?<hashes>(?:\s+--hash=sha(?:256|384|512):[0-9a-f]+)*)$/;

export function readPythonPlan(folder: string): PlanReading {
  // A skill that brings its packages along needs no others.
  if (existsSync(join(folder, "python_modules"))) return undefined;
  const lock = FILES.find((name) => existsSync(join(folder, name)));
  if (lock === undefined) return reportOtherLock(folder);
  const refuse = (what: string, line?: number): PlanReading => {
    const message = `Python packages are not installed: ${what}`;
    return environmentFault("environment.unlocked", join(folder, lock), message, PIN, line);
  };
  const text = readSkillFile(folder, lock);
  if (text === undefined) return undefined;
  if (typeof text !== "string") return refuse(text.message);
  const packages: { readonly name: string }[] = [];
  const kept: string[] = [];
  for (const { content, line } of logicalLines(text)) {
    const name = REQUIREMENT.exec(content)?.groups?.name;
    if (name === undefined) return refuse(`${showPath(content)} is not one exact version.`, line);
    packages.push({ name });
    kept.push(`${content}\n`);
  }
  if (packages.length === 0) return undefined;
  return { kind: "python", lock, packages, files: { "requirements.txt": kept.join("") } };
}

/** Without comments; a line that ends in a backslash goes on in the next one. */
function* logicalLines(text: string): Generator<{ readonly content: string; readonly line: number }> {
  let pending = "";
  let start = 1;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (pending === "") start = index + 1;
    const plain = raw.replace(/(?:^|\s)#.*$/, "");
    if (plain.endsWith("\\")) {
      pending += `${plain.slice(0, -1)} `;
      continue;
    }
    const content = tidy(pending + plain);
    pending = "";
    if (content !== "") yield { content, line: start };
  }
  const last = tidy(pending);
  if (last !== "") yield { content: last, line: start };
}

/** pip takes more than line feeds for the end of a line: none of them is left. */
function tidy(line: string): string {
  return line.replace(/\s+/g, " ").trim();
}

function reportOtherLock(folder: string): PlanReading {
  const name = OTHER_LOCKS.find((other) => existsSync(join(folder, other)));
  if (name === undefined) return undefined;
  const message = `Python packages are not installed: \`${name}\` is not read here, only \`${FILES.join("` and `")}\`.`;
  return environmentFault("environment.unlocked", join(folder, name), message, EXPORT);
}
