/** Updating many skills: one summary, one question with show all, a few lines after; and what `verify` and `outdated` say of many. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createInstallWorld, DOUBTFUL, type InstallWorld } from "../../../test/support/installing.ts";
import { describeTerminal, inPseudoTerminal } from "../../../test/support/pseudo-terminal.ts";
import { writeTree } from "../../../test/support/temporary.ts";
import { createWorld, skill } from "../../../test/support/world.ts";

const MANY = 40;
const NAMES = Array.from({ length: MANY }, (_, index) => `s${String(index).padStart(3, "0")}`);

/** All are installed, and the source has something new for each. */
async function createOutdated(files: Readonly<Record<string, string>> = {}): Promise<InstallWorld> {
  const world = createInstallWorld();
  const write = (body: string): void =>
    writeTree(
      world.root,
      Object.fromEntries(NAMES.map((name) => [`source/${name}/SKILL.md`, skill(name, "", body)])),
    );
  write("Do the old thing.");
  const { code } = await world.cli("install", "../source", "--all", "--yes");
  expect(code).toBe(0);
  write("Do the new thing.");
  writeTree(world.root, files);
  return world;
}

function lines(text: string): number {
  return text.split("\n").length;
}

describe("[U10] updates of many skills", () => {
  test("are one summary and one question, with show all", async () => {
    const world = await createOutdated();
    const { code, stdout } = await world.cliAnswering(["what", "s", ""], "update");
    expect(code).toBe(0);
    const [summary = "", stray = "", whole = "", after = ""] = stdout.split("Take these 40 new versions?");
    expect(lines(summary)).toBeLessThan(10);
    expect(summary).toContain("40 new versions, 40 changed files");
    expect(summary).toMatch(/no new risks: +40: s000, s001.*, and 16 more/);
    expect(summary).not.toContain("Do the new thing.");
    expect(stray).toContain("[Y]es, [e]ach by itself, [n]o, [s]how all");
    expect(stray).toContain("Answer `yes`, `each`, `no` or `show`.");
    expect(whole.match(/\| \+Do the new thing\./g)).toHaveLength(MANY);
    expect(after).toContain("✓ 40 skills are updated");
    expect(lines(after)).toBeLessThan(10);
  });

  test("show those with new risks in full, and the usual answer is to decide on each", async () => {
    const world = await createOutdated({ "source/s007/go.sh": DOUBTFUL });
    const answers = ["", ...NAMES.slice(0, 3).map(() => "keep"), "abort"];
    const { code, stdout, stderr } = await world.cliAnswering(answers, "update");
    expect(code).not.toBe(0);
    expect(stderr).toContain("nothing was updated");
    const [summary = "", rest = ""] = stdout.split("Take these 40 new versions?");
    expect(summary).toMatch(/new risks: +1: s007/);
    expect(summary).toMatch(/script +go\.sh/);
    expect(rest).toContain("[E]ach");
    expect(rest).toContain("s000: [T]ake the new version");
  });

  test("are left as they are by `no`, and counted where they are many", async () => {
    const world = await createOutdated();
    const { code, stdout } = await world.cliAnswering(["n"], "update");
    expect(code).toBe(0);
    expect(stdout).toContain("· 40 skills are kept.");
    const outdated = await world.cli("outdated");
    expect(lines(outdated.stdout)).toBeGreaterThan(MANY); // Each has something to do.
    const taken = await world.cli("update");
    expect(taken.stdout).toContain("✓ 40 skills are updated");
    const again = await world.cli("update");
    expect(again.stdout).toBe("· 40 skills are up to date.\n");
    expect((await world.cli("outdated")).stdout).toBe("40 skills: nothing to do.\n");
    expect((await world.cli("verify")).stdout).toBe("40 skills, all as recorded.\n");
    const { directory } = (await world.metier()).require("installed:s003");
    writeTree(directory, { "new.txt": "new" });
    const changed = await world.cli("verify");
    expect(changed.code).toBe(1);
    expect(changed.stdout).toMatch(/✗ s003/);
    expect(changed.stdout).toContain("✓ 39 skills as recorded");
  });

  test("without a terminal, a dry run says where to see one of them", async () => {
    const world = await createOutdated();
    const { stdout } = await world.cli("update", "--dry-run");
    expect(stdout).toContain("`metier update <skill> --dry-run` shows one update with its diff.");
    expect(stdout).toContain("+ 40 skills would be updated");
    expect(lines(stdout)).toBeLessThan(12);
  });
});

describeTerminal("[U10] hundreds of skills in a terminal of 80 columns", () => {
  test.each([["list"], ["find", "thing"], ["doctor"], ["chat", "/skills"]])(
    "fits: %j %j",
    async (...words) => {
      const world = createWorld();
      const script = join(world.root, "script.json");
      const long = `description: ${"Does a long thing for people who have things. ".repeat(5)}`;
      const names = Array.from({ length: 120 }, (_, index) => `a-skill-with-a-long-name-${index}`);
      world.write({
        "script.json": "[]",
        "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(script)}\n`,
        ...Object.fromEntries(
          names.map((name) => [
            `project/.metier/skills/${name}/SKILL.md`,
            `---\nname: ${name}\n${long}\n---\n\nDo it.\n`,
          ]),
        ),
      });
      const options = { keys: [{ after: "rust", send: "\r" }], environment: { PAGER: "cat" } };
      const { lines: shown, code } = await inPseudoTerminal(world, words, options);
      expect(code).toBe(0);
      expect(shown.filter((line) => [...line].length > 80)).toEqual([]);
      expect(shown.length).toBeLessThan(400);
    },
  );
});
