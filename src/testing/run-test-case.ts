/** One case: without a script the skill is prepared, with one it is run. The outcome is a list of problems, or none. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { MetierError } from "../foundation/errors.ts";
import { checkContainedPath, showPath } from "../host/contained-path.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { RunResult } from "../run/run-result.ts";
import { checkPrepared, checkRefusal, checkRun } from "./check-case.ts";
import { inTestPlace } from "./open-test-metier.ts";
import type { SkillTestHarness } from "./skill-test-harness.ts";
import type { TestCase } from "./test-case.ts";

/** What is the user's to say, never the test file's, which comes with the skill. */
export type CaseOptions = Pick<RunRequest, "approve" | "signal">;

const CALLER = { userId: "tester", chatId: "test", chatType: "private" };

export async function runTestCase(
  test: TestCase,
  harness: SkillTestHarness,
  options: CaseOptions,
): Promise<readonly string[]> {
  const { name: _name, expect = {}, script, files = {}, caller, ...asked } = test;
  const request = { ...asked, ...options, caller: { ...CALLER, ...caller } };
  try {
    if (script === undefined) {
      const outcome = await harness.prepare(request);
      return outcome.ok ? checkPrepared(expect, outcome.prepared) : checkRefusal(expect, outcome.refusal);
    }
    return await inTestPlace(async (place) => {
      const given = writeFiles(place.cwd, files);
      // One folder to read and to work in: an untrusted skill sees no other.
      const run = await harness.run({ ...request, script, place, workDir: place.cwd });
      return checkRun(expect, { ...run, result: withoutGiven(run.result, place.cwd, given) });
    });
  } catch (fault) {
    // A skill that cannot be loaded, a script that was not followed: faults of what is tested, not of the tester.
    if (fault instanceof MetierError) return [fault.message];
    throw fault;
  }
}

/** Of the files in the folder, those that the run made or changed. */
function withoutGiven(result: RunResult, folder: string, given: ReadonlyMap<string, Buffer>): RunResult {
  const isGiven = ({ path, size }: RunResult["files"][number]): boolean => {
    const bytes = given.get(path);
    return bytes !== undefined && bytes.length === size && bytes.equals(readFileSync(join(folder, path)));
  };
  return { ...result, files: result.files.filter((file) => !isGiven(file)) };
}

/** What was written, by path. */
function writeFiles(folder: string, files: Readonly<Record<string, string>>): ReadonlyMap<string, Buffer> {
  const written = new Map<string, Buffer>();
  for (const [path, text] of Object.entries(files)) {
    const checked = checkContainedPath(path);
    if (!checked.ok) throw new MetierError("usage.invalid", `In \`files\`: ${checked.message}`);
    const target = join(folder, ...checked.segments);
    try {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text, { flag: "wx" });
      written.set(checked.path, Buffer.from(text));
    } catch (cause) {
      const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
      throw new MetierError("usage.invalid", `In \`files\`: ${showPath(path)} cannot be written (${why}).`, {
        hint: "Name each file once, and none that is a folder of another.",
        cause,
      });
    }
  }
  return written;
}
