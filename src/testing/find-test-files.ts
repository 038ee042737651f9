/** The test files beside a skill: `tests/*.test.yaml`; for a flat skill those that begin with its name. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { compareText } from "../foundation/diagnostic.ts";
import { openContained, withContained } from "../host/open-contained.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Skill } from "../skill/skill.ts";

export type SkillPlace = Pick<Skill, "form" | "location" | "directory">;

const FOLDER = "tests";
const TEST_FILE = /\.test\.ya?ml$/;
const MOST_BYTES = 1024 * 1024;

/** Paths below the skill's folder, sorted. */
export function findTestFiles({ form, location, directory }: SkillPlace): readonly string[] {
  const own = form === "directory" ? "" : `${basename(location, extname(location))}.`;
  return listNames(join(directory, FOLDER))
    .filter((name) => TEST_FILE.test(name) && name.startsWith(own))
    .sort(compareText)
    .map((name) => `${FOLDER}/${name}`);
}

export type TestFileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/** Through the gate for a skill's files: a link out of its folder is not followed. */
export function readTestText({ directory }: SkillPlace, file: string): TestFileText {
  const read = withContained(
    openContained(realPathOr(directory), file),
    ({ descriptor, stats }): TestFileText =>
      Number(stats.size) > MOST_BYTES
        ? { ok: false, message: `\`${file}\` has ${stats.size} bytes; at most ${MOST_BYTES} are read.` }
        : { ok: true, text: readFileSync(descriptor, "utf8") },
  );
  return read.ok ? read : { ok: false, message: read.message };
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // There are no tests, or nobody may see them.
  }
}
