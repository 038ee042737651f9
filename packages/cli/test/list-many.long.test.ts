/** A list of thousands of skills: its process is told to save memory, and it is the same list. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../test/support/temporary.ts";

/** One thread takes several times as long for them as a list must take to be called long. */
const MANY = 5000;
const PROGRAM = join(import.meta.dirname, "../src/main.ts");

/** Loaded first: it says which flags were set, in the order in which they were. */
const WATCH = `data:text/javascript,${encodeURIComponent(`
  const v8 = process.getBuiltinModule("node:v8");
  const { setFlagsFromString } = v8;
  v8.setFlagsFromString = (flag) => {
    process._rawDebug("flag " + flag);
    setFlagsFromString(flag);
  };`)}`;

test("the process of a long list grows and compiles less", () => {
  const folder = temporaryFolder();
  const numbers = Array.from({ length: MANY }, (_, number) => `s${number}`);
  const files = numbers.map((name) => [
    `project/.claude/skills/${name}/SKILL.md`,
    skillText(`name: ${name}\ndescription: The skill ${name}.`),
  ]);
  writeTree(folder, { "home/.keep": "", ...(Object.fromEntries(files) as Record<string, string>) });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--no-warnings", "--import", WATCH, PROGRAM, "list", "--json"],
    {
      cwd: join(folder, "project"),
      env: { PATH: process.env.PATH, HOME: join(folder, "home"), METIER_THREADS: "1" },
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  expect(status).toBe(0);
  expect(stderr.match(/^flag .*/gm)).toEqual([
    "flag --semi-space-growth-factor=1",
    "flag --no-turbofan",
    "flag --no-incremental-marking",
  ]);
  const { skills } = JSON.parse(stdout) as { readonly skills: readonly { readonly name: string }[] };
  const listed = new Set(skills.map(({ name }) => name));
  expect(numbers.filter((name) => !listed.has(name))).toEqual([]);
});
