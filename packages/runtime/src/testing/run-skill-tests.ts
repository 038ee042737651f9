/**
 * Runs all test files of some skills, several cases at a time: what `metier test` does. They are in `tests/*.test.yaml`
 * next to a skill; for a flat skill, only those whose names start with its name count. Prints nothing.
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

/** Where a skill's tests are. */
export type TestedFolder = Pick<Skill, "form" | "location" | "directory">;

/**
 * A skill whose test files are run. A catalog's `Skill` provides everything but `trust`, which is its `trust.level`.
 */
export interface SkillUnderTest extends Pick<Skill, "name" | "form" | "location" | "directory"> {
  /** Its trust here: its tests don't give it more. */
  readonly trust: Trust;
  /** Why it has this trust, and how to change it: a hint if an untrusted skill fails its test. */
  readonly trustReason?: string;
}

/** Which cases to run, with which config and environment. */
export interface TestOptions extends CaseOptions, Pick<TestSetting, "config" | "environment"> {
  /** Only cases with this text in the skill's name or their own, ignoring case. */
  readonly filter?: string;
}

/** The outcome of one test case. */
export interface CaseResult {
  /** The name of the skill it tests. */
  readonly skill: string;
  /** Of the case; for a file that can't be used, the file's. */
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  /** 1-based line of the case in its file; for a file that can't be used, of its first error. */
  readonly line: number;
  /** Whether there are no problems. */
  readonly passed: boolean;
  /** The differences from what was expected, one string each. */
  readonly problems: readonly string[];
  /** A possible cause. */
  readonly hint?: string;
  /** Duration in whole milliseconds. */
  readonly durationMs: number;
}

/** The outcome of all test files of some skills. */
export interface TestReport {
  /** How many cases passed. */
  readonly passed: number;
  /** How many cases failed, counting one per file that can't be used. */
  readonly failed: number;
  /** Every case that ran, ordered by skill, file and line; an abort omits the rest. */
  readonly cases: readonly CaseResult[];
  /** How many cases the filter left out. */
  readonly filtered: number;
  /** Skills that have no test file. */
  readonly untested: readonly string[];
}

/** One case doesn't keep the machine busy, but all of them at once would. */
const MOST_AT_ONCE = 4;

const OPTIONS: OptionKeys<TestOptions> = {
  approve: true,
  signal: true,
  config: true,
  environment: true,
  filter: true,
};

type PlannedCase = Omit<CaseResult, "passed" | "problems" | "durationMs"> & {
  /** It represents a file that can't be used. */
  readonly isFile: boolean;
  run(): Promise<readonly string[]>;
};

/** Runs all test files of these skills, several cases at a time. A failing case is a result; prints nothing. */
export async function runSkillTests(
  skills: readonly SkillUnderTest[],
  options: TestOptions = {},
): Promise<TestReport> {
  checkKeys("runSkillTests", options, OPTIONS);
  // YAML is only loaded if there are test files.
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

/** A file that can't be used is reported whatever the filter: nobody knows its cases. */
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

/** Without trust, a run has fewer tools and sees less, which a problem alone doesn't show. */
function hintAtTrust({ name, trust, trustReason }: SkillUnderTest): string | undefined {
  if (trust === "trusted") return undefined;
  return `\`${name}\` is not trusted here, and neither are its tests.${trustReason === undefined ? "" : ` ${trustReason}`}`;
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

/** Paths relative to the skill's folder, sorted. */
export function findTestFiles({ form, location, directory }: TestedFolder): readonly string[] {
  const own = form === "directory" ? "" : `${basename(location, extname(location))}.`;
  return listNames(join(directory, FOLDER))
    .filter((name) => TEST_FILE.test(name) && name.startsWith(own))
    .sort(compareText)
    .map((name) => `${FOLDER}/${name}`);
}

/** Through the gate for a skill's files: links out of its folder aren't followed. */
export function readTestText(
  { directory }: Pick<TestedFolder, "directory">,
  file: string,
): Result<string, string> {
  const read = withContained(
    openContained(realPathOr(directory), file),
    ({ descriptor, stats }): Result<string, string> =>
      Number(stats.size) > MOST_BYTES
        ? refused(`\`${file}\` has ${stats.size} bytes; the limit is ${MOST_BYTES}.`)
        : done(readFileSync(descriptor, "utf8")),
  );
  return "message" in read ? refused(read.message) : read;
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // There are no tests, or they aren't readable.
  }
}
