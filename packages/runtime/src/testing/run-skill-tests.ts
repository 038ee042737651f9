/**
 * All test files of some skills, several cases at a time: what `metier test` does. They lie in `tests/*.test.yaml` beside a
 * skill; for a flat skill those count that begin with its name. Nothing is printed here.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { openContained, withContained } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import { realPathOr } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { compareText } from "@metier/base/text";
import { mapBounded } from "@metier/base/turns";
import type { Skill, Trust } from "@metier/skills";
import type { TestFileFault, TestFileReading } from "./read-test-file.ts";
import { SkillTestHarness } from "./skill-test-harness.ts";
import { type CaseOptions, runTestCase } from "./test-case.ts";
import type { TestSetting } from "./test-metier.ts";

/** Where the tests of a skill are. */
export type TestedFolder = Pick<Skill, "form" | "location" | "directory">;

/** A skill whose test files are run. A `Skill` of a catalog gives all of it but `trust`, which is its `trust.level`. */
export interface SkillUnderTest extends Pick<Skill, "name" | "form" | "location" | "directory"> {
  /** What it is trusted with here: its tests give it no more. */
  readonly trust: Trust;
  /** Why it is so, and what would change it: a hint where a run of an untrusted skill fails its test. */
  readonly trustReason?: string;
}

/** Which cases are run, and with which config and environment. */
export interface TestOptions extends CaseOptions, Pick<TestSetting, "config" | "environment"> {
  /** Only cases that have this in the name of the skill or their own; letter case does not matter. */
  readonly filter?: string;
}

/** The outcome of one test case. */
export interface CaseResult {
  /** The name of the skill it tests. */
  readonly skill: string;
  /** Of the case; of a file that cannot be used, the file's. */
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  /** 1-based line of the case in its file; for a file that can't be used, of its first fault. */
  readonly line: number;
  /** Whether there are no problems. */
  readonly passed: boolean;
  /** What differs from what is expected, one text each. */
  readonly problems: readonly string[];
  /** What may be the cause of them. */
  readonly hint?: string;
  /** How long it took, in whole milliseconds. */
  readonly durationMs: number;
}

/** The outcome of all test files of some skills. */
export interface TestReport {
  /** How many cases passed. */
  readonly passed: number;
  /** How many cases failed, with one for each file that can't be used. */
  readonly failed: number;
  /** Every case that was run, in the order of skills, files and lines; an abort leaves the rest out. */
  readonly cases: readonly CaseResult[];
  /** How many cases the filter left out. */
  readonly filtered: number;
  /** Skills that have no test file. */
  readonly untested: readonly string[];
}

/** The machine is not busy with one case, and must not be with all of them. */
const MOST_AT_ONCE = 4;

const OPTIONS: OptionKeys<TestOptions> = {
  approve: true,
  signal: true,
  config: true,
  environment: true,
  filter: true,
};

type PlannedCase = Omit<CaseResult, "passed" | "problems" | "durationMs"> & {
  /** It stands for a file that cannot be used. */
  readonly isFile: boolean;
  run(): Promise<readonly string[]>;
};

/** Runs all test files of these skills, several cases at a time. A failing case is a result; nothing is printed. */
export async function runSkillTests(
  skills: readonly SkillUnderTest[],
  options: TestOptions = {},
): Promise<TestReport> {
  checkKeys("runSkillTests", options, OPTIONS);
  // YAML and what it brings are loaded by whoever has test files.
  const { readTestFile } = await import("./read-test-file.ts");
  const found = skills.map((skill) => ({ skill, files: findTestFiles(skill) }));
  const all = found.flatMap(({ skill, files }) =>
    files.flatMap((file) => {
      const text = readTestText(skill, file);
      const reading = text.ok ? readTestFile(text.value) : refused([{ line: 1, message: text.refusal }]);
      return planCases(skill, file, reading, options);
    }),
  );
  const planned = all.filter((test) => isWanted(test, options));
  const results = await mapBounded(planned, MOST_AT_ONCE, async (test) =>
    options.signal?.aborted ? [] : [await carryOut(test)],
  );
  const cases = results.flat();
  const passed = cases.filter((result) => result.passed).length;
  const untested = found.filter(({ files }) => files.length === 0).map(({ skill }) => skill.name);
  const filtered = all.length - planned.length;
  return { passed, failed: cases.length - passed, cases, filtered, untested };
}

/** Whatever the filter says, a file that cannot be used is told: which cases it has, nobody knows. */
function isWanted({ skill, name, isFile }: PlannedCase, { filter = "" }: TestOptions): boolean {
  return isFile || `${skill} ${name}`.toLowerCase().includes(filter.toLowerCase());
}

function planCases(
  skill: SkillUnderTest,
  file: string,
  reading: TestFileReading,
  { filter: _filter, config, environment, ...options }: TestOptions,
): readonly PlannedCase[] {
  const path = join(skill.directory, file);
  if (!reading.ok) {
    const problems = reading.refusal.map(describeFault);
    const line = reading.refusal[0]?.line ?? 1;
    return [{ skill: skill.name, name: file, file: path, line, isFile: true, run: async () => problems }];
  }
  const harness = new SkillTestHarness({
    skillPath: skill.location,
    trust: skill.trust,
    ...presentFields({ config, environment }),
  });
  const hint = hintAtTrust(skill);
  return reading.value.map(({ test, line }) => ({
    skill: skill.name,
    name: test.name,
    file: path,
    line,
    isFile: false,
    ...presentFields({ hint: test.script && hint }),
    run: () => runTestCase(test, harness, options),
  }));
}

/** Without trust a run has fewer tools and sees less, which a problem by itself does not tell. */
function hintAtTrust({ name, trust, trustReason }: SkillUnderTest): string | undefined {
  if (trust === "trusted") return undefined;
  return `\`${name}\` is not trusted here, so its tests are not either.${trustReason === undefined ? "" : ` ${trustReason}`}`;
}

async function carryOut({ run, isFile: _isFile, hint, ...planned }: PlannedCase): Promise<CaseResult> {
  const startedAt = performance.now();
  const problems = await run();
  const durationMs = Math.round(performance.now() - startedAt);
  const passed = problems.length === 0;
  return { ...planned, passed, problems, ...presentFields({ hint: passed ? undefined : hint }), durationMs };
}

function describeFault({ line, message, hint }: TestFileFault): string {
  return `line ${line}: ${message}${hint === undefined ? "" : ` ${hint}`}`;
}

const FOLDER = "tests";
const TEST_FILE = /\.test\.ya?ml$/;
const MOST_BYTES = 1024 * 1024;

/** Paths below the skill's folder, sorted. */
export function findTestFiles({ form, location, directory }: TestedFolder): readonly string[] {
  const own = form === "directory" ? "" : `${basename(location, extname(location))}.`;
  return listNames(join(directory, FOLDER))
    .filter((name) => TEST_FILE.test(name) && name.startsWith(own))
    .sort(compareText)
    .map((name) => `${FOLDER}/${name}`);
}

/** Through the gate for a skill's files: a link out of its folder is not followed. */
export function readTestText(
  { directory }: Pick<TestedFolder, "directory">,
  file: string,
): Result<string, string> {
  const read = withContained(
    openContained(realPathOr(directory), file),
    ({ descriptor, stats }): Result<string, string> =>
      Number(stats.size) > MOST_BYTES
        ? refused(`\`${file}\` has ${stats.size} bytes; at most ${MOST_BYTES} are read.`)
        : done(readFileSync(descriptor, "utf8")),
  );
  return "message" in read ? refused(read.message) : read;
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // There are no tests, or nobody may see them.
  }
}
