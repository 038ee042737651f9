/** All test files of some skills, several cases at a time: what `metier test` does. Nothing is printed here. */
import { join } from "node:path";
import { mapBounded } from "../foundation/map-bounded.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import { findTestFiles, readTestText, type SkillPlace } from "./find-test-files.ts";
import type { TestSetting } from "./open-test-metier.ts";
import type { TestFileFault, TestFileReading } from "./read-test-file.ts";
import { type CaseOptions, runTestCase } from "./run-test-case.ts";
import { SkillTestHarness } from "./skill-test-harness.ts";

export interface SkillUnderTest extends SkillPlace, Pick<Skill, "name"> {
  /** What it is trusted with here: its tests give it no more. */
  readonly trust: Trust;
  /** Why it is so, and what would change it: a hint where a run of an untrusted skill fails its test. */
  readonly trustReason?: string;
}

export interface TestOptions extends CaseOptions, Pick<TestSetting, "config" | "environment"> {
  /** Only cases that have this in the name of the skill or their own; letter case does not matter. */
  readonly filter?: string;
}

export interface CaseResult {
  readonly skill: string;
  /** Of the case; of a file that cannot be used, the file's. */
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  readonly line: number;
  readonly passed: boolean;
  /** What differs from what is expected, one text each. */
  readonly problems: readonly string[];
  /** What may be the cause of them. */
  readonly hint?: string;
  readonly durationMs: number;
}

export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly cases: readonly CaseResult[];
  /** How many cases the filter left out. */
  readonly filtered: number;
  /** Skills that have no test file. */
  readonly untested: readonly string[];
}

/** The machine is not busy with one case, and must not be with all of them. */
const MOST_AT_ONCE = 4;

type PlannedCase = Omit<CaseResult, "passed" | "problems" | "durationMs"> & {
  /** It stands for a file that cannot be used. */
  readonly isFile: boolean;
  run(): Promise<readonly string[]>;
};

export async function runSkillTests(
  skills: readonly SkillUnderTest[],
  options: TestOptions = {},
): Promise<TestReport> {
  // YAML and what it brings are loaded by whoever has test files.
  const { readTestFile } = await import("./read-test-file.ts");
  const found = skills.map((skill) => ({ skill, files: findTestFiles(skill) }));
  const all = found.flatMap(({ skill, files }) =>
    files.flatMap((file) => planCases(skill, file, readFile(skill, file, readTestFile), options)),
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

function readFile(
  skill: SkillUnderTest,
  file: string,
  parse: (text: string) => TestFileReading,
): TestFileReading {
  const read = readTestText(skill, file);
  return read.ok ? parse(read.text) : { ok: false, faults: [{ line: 1, message: read.message }] };
}

function planCases(
  skill: SkillUnderTest,
  file: string,
  reading: TestFileReading,
  { filter: _filter, config, environment, ...options }: TestOptions,
): readonly PlannedCase[] {
  const path = join(skill.directory, file);
  if (!reading.ok) {
    const problems = reading.faults.map(describeFault);
    return [
      {
        skill: skill.name,
        name: file,
        file: path,
        line: reading.faults[0]?.line ?? 1,
        isFile: true,
        run: async () => problems,
      },
    ];
  }
  const harness = new SkillTestHarness({
    skillPath: skill.location,
    trust: skill.trust,
    ...(config && { config }),
    ...(environment && { environment }),
  });
  const hint = hintAtTrust(skill);
  return reading.cases.map(({ test, line }) => ({
    skill: skill.name,
    name: test.name,
    file: path,
    line,
    isFile: false,
    ...(test.script && hint !== undefined && { hint }),
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
  return { ...planned, passed, problems, ...(!passed && hint !== undefined && { hint }), durationMs };
}

function describeFault({ line, message, hint }: TestFileFault): string {
  return `line ${line}: ${message}${hint === undefined ? "" : ` ${hint}`}`;
}
