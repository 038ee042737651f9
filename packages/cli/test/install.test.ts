import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createInstallWorld, DOUBTFUL, STEALING, skillFiles } from "../../../test/support/installing.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { skill } from "../../../test/support/world.ts";
import { readChoice } from "../src/actions/install-questions.ts";
import { createProgressLine } from "../src/output/progress.ts";

const TWO = { ...skillFiles("skills/alpha", "alpha"), ...skillFiles("skills/beta", "beta") };

describe("metier install", () => {
  verifies(
    [186, 188, 196],
    "installs without a terminal and says where, and that nobody trusts it",
    async () => {
      const world = createInstallWorld();
      const { url } = world.repository(skillFiles("", "alpha"));
      const text = await world.cli("install", url);
      expect([text.code, text.stderr]).toEqual([0, ""]);
      expect(text.stdout).toContain("alpha is installed at");
      expect(text.stdout).toContain("`metier trust alpha`");
      const again = await world.cli("install", url, "--json");
      expect(again.json).toMatchObject({
        installed: [],
        skipped: [{ name: "alpha", code: "same" }],
        findings: [],
      });
      expect(again.code).toBe(0);
      const { json } = await world.cli("list", "--json");
      expect(json.skills.find(({ name }: { name: string }) => name === "alpha")).toMatchObject({
        scope: "installed",
        trust: "untrusted",
      });
    },
  );

  verifies([186, 196, 197], "has the seeds' spelling, with a reference and a name of one's own", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    repository.git("tag", "v1");
    const { code, json } = await world.cli(
      "skill",
      "install",
      repository.url,
      "--ref",
      "v1",
      "--name",
      "mine",
      "--json",
    );
    expect([code, json.installed[0].name]).toEqual([0, "mine"]);
    const listed = await world.cli("skill", "manage", "list", "--json");
    expect(listed.json.skills.map(({ name }: { name: string }) => name)).toEqual(["mine"]);
    const removed = await world.cli("skill", "manage", "remove", "mine", "--json");
    expect([removed.code, removed.json.removed]).toMatchObject([0, [{ name: "mine" }]]);
    expect((await world.cli("skill", "manage")).stdout).toContain("remove <skill>");
  });

  test.each([
    [["none/", "--json"], 2, "source.invalid"],
    [["./missing", "--json"], 1, "source.not_found"],
    [["./two", "--json"], 2, "install.choice"],
    [["./two", "--skill", "gamma", "--json"], 1, "install.no_skill"],
    [["./two", "--all", "--name", "x", "--json"], 2, "install.usage"],
    [["./two", "--name", "../x", "--json"], 2, "install.usage"],
    [["./two", "--copy", "--json"], 2, "install.usage"],
    [["./two", "--frozen", "--json"], 2, "install.usage"],
    [["--skill", "x", "--json"], 2, "install.usage"],
    [["./invalid", "--json"], 1, "install.invalid"],
    [["./stealing", "--yes", "--force", "--json"], 1, "install.blocked"],
    [["./doubtful", "--json"], 3, "install.unreviewed"],
  ] as const)("install %j ends with %i and %s, and installs nothing", async (args, code, error) => {
    const world = createInstallWorld();
    world.write({
      "project/two/alpha/SKILL.md": skill("alpha"),
      "project/two/beta/SKILL.md": skill("beta"),
      "project/invalid/SKILL.md": "---\nname: ../../up\ndescription: Up.\n---\n\nx\n",
      "project/stealing/SKILL.md": skill("stealing"),
      "project/stealing/go.sh": STEALING,
      "project/doubtful/SKILL.md": skill("doubtful"),
      "project/doubtful/go.sh": DOUBTFUL,
    });
    const outcome = await world.cli("install", ...args);
    expect([outcome.code, outcome.json.error.code]).toEqual([code, error]);
    expect(outcome.json.error.hint).not.toBe("");
    expect([world.stored(), existsSync(world.places.lockFile)]).toEqual([[], false]);
  });

  verifies([189, "case 108"], "ends with 6 where git is missing, and says how to get it", async () => {
    const world = createInstallWorld({ environment: { PATH: "/nonexistent" } });
    const { code, json } = await world.cli("install", "owner/repo", "--json");
    expect([code, json.error.code]).toEqual([6, "git.missing"]);
  });

  test("shows what is blocked, and where", async () => {
    const world = createInstallWorld();
    world.write({ "project/stealing/SKILL.md": skill("stealing"), "project/stealing/go.sh": STEALING });
    const { stderr } = await world.cli("install", "./stealing");
    expect(stderr).toContain("✗ stealing: The scan found a danger that `--yes` and `--force` don't override");
    expect(stderr).toMatch(/block {2}go\.sh:2/);
  });

  test("--dry-run shows the review and changes nothing", async () => {
    const world = createInstallWorld();
    world.write({ "project/doubtful/SKILL.md": skill("doubtful"), "project/doubtful/go.sh": DOUBTFUL });
    const text = await world.cli("install", "./doubtful", "--dry-run");
    expect([text.code, text.stdout]).toEqual([0, expect.stringContaining("doubtful would be installed at")]);
    expect(text.stdout).toContain("1 shell");
    const { json } = await world.cli("install", "./doubtful", "--dry-run", "--json");
    expect(json.review.skills[0]).toMatchObject({ called: "doubtful", files: 2 });
    expect(world.stored()).toEqual([]);
  });

  test("without a source and without a lock has nothing to do; --frozen fails on what was changed", async () => {
    const world = createInstallWorld();
    expect((await world.cli("install")).stdout).toContain("No lock file lists any skills");
    world.write({ "project/alpha/SKILL.md": skill("alpha") });
    await world.cli("install", "./alpha");
    expect((await world.cli("install", "--frozen")).code).toBe(0);
    const [folder = ""] = world.stored();
    world.write({ [`home/.metier/store/${folder}/SKILL.md`]: skill("alpha", "", "changed") });
    const frozen = await world.cli("install", "--frozen", "--json");
    expect([frozen.code, frozen.json.error.code]).toEqual([1, "install.differs"]);
    expect((await world.cli("install")).stdout).toContain("alpha (your lock) is restored at");
  });
});

describe("in a terminal", () => {
  test("the skills are listed to pick from, shown and asked about; trust is another question", async () => {
    const world = createInstallWorld();
    const { url } = world.repository(TWO);
    const answers = ["7", "2", "", "n"];
    const { code, stdout } = await world.cliAnswering(answers, "install", url);
    expect(code).toBe(0);
    expect(stdout).toContain("No skill `7`");
    expect(stdout).toContain("Install it? [Y/n]");
    expect(stdout).toContain("Trust beta exactly as installed? [y/N]");
    expect(world.lock().skills.map(({ name }) => name)).toEqual(["beta"]);
    expect((await world.metier({ trust: "grants" })).require("beta").trust.level).toBe("untrusted");
    await world.cliAnswering(["alpha", "y", "y"], "install", url);
    expect((await world.metier({ trust: "grants" })).require("alpha").trust.level).toBe("trusted");
  });

  test("no is an answer, and doubtful skills need a yes that was typed", async () => {
    const world = createInstallWorld();
    world.write({ "project/doubtful/SKILL.md": skill("doubtful"), "project/doubtful/go.sh": DOUBTFUL });
    const silent = await world.cliAnswering([""], "install", "./doubtful");
    expect([silent.code, world.stored()]).toEqual([1, []]);
    expect(silent.stdout).toContain("download.execute");
    expect((await world.cliAnswering(["yes", ""], "install", "./doubtful")).code).toBe(0);
  });

  test("--yes asks nothing, and never trusts", async () => {
    const world = createInstallWorld();
    world.write({ "project/doubtful/SKILL.md": skill("doubtful"), "project/doubtful/go.sh": DOUBTFUL });
    expect((await world.cliAnswering([], "install", "./doubtful", "--yes")).code).toBe(0);
    expect((await world.metier({ trust: "grants" })).require("doubtful").trust.level).toBe("untrusted");
  });

  verifies(190, "a name that is taken is renamed, replaced or skipped", async () => {
    const world = createInstallWorld();
    world.write({
      "project/one/SKILL.md": skill("alpha", "", "one"),
      "project/two/SKILL.md": skill("alpha", "", "two"),
    });
    await world.cli("install", "./one");
    const skipped = await world.cliAnswering(["s"], "install", "./two");
    expect([skipped.code, skipped.stdout]).toEqual([0, expect.stringContaining("stays")]);
    await world.cliAnswering(["r", "other", "y", "n"], "install", "./two");
    expect(world.lock().skills.map(({ alias, name }) => alias ?? name)).toEqual(["alpha", "other"]);
    await world.cliAnswering(["p", "y", "n"], "install", "./two");
    expect(world.lock().skills[0]?.resolved).toBe(join(world.project, "two"));
  });
});

describe("metier remove", () => {
  verifies([191, 197, "case 102"], "removes what is installed and explains what is not", async () => {
    const world = createInstallWorld();
    world.write({ "project/one/SKILL.md": skill("alpha"), "home/.metier/skills/own/SKILL.md": skill("own") });
    await world.cli("install", "./one");
    const missing = await world.cli("remove", "alhpa", "--json");
    expect([missing.code, missing.json.error.hint]).toEqual([1, "Did you mean `alpha`?"]);
    const own = await world.cli("remove", "own", "--json");
    expect([own.code, own.json.error.message]).toEqual([1, expect.stringContaining("did not install")]);
    const { code, stdout } = await world.cli("remove", "alpha");
    expect([code, stdout]).toEqual([0, "✓ alpha: removed\n"]);
    expect((await world.cli("remove", "alpha")).code).toBe(1);
    expect((await world.cli("remove")).code).toBe(2);
  });
});

verifies([191, "case 103"], "what is installed is listed, sorted, and nothing else", async () => {
  const world = createInstallWorld();
  world.write({ "home/.metier/skills/own/SKILL.md": skill("own") });
  const { url } = world.repository(TWO);
  await world.cli("install", url, "--all");
  const { json } = await world.cli("skill", "manage", "list", "--json");
  expect(json.skills.map(({ name }: { name: string }) => name)).toEqual(["alpha", "beta"]);
});

test("a choice is made of numbers, ranges and names", () => {
  const skills = ["a", "b", "c", "d"].map((name) => ({
    name,
    path: `skills/${name}`,
    description: "",
    valid: true,
  }));
  const pick = (answer: string): unknown => {
    const picked = readChoice(answer, skills);
    return typeof picked === "string" ? picked : picked.map(({ name }) => name).join("");
  };
  expect(["", "1", "2-4", "4,1", "b skills/c", "all"].map(pick)).toEqual([
    "",
    "a",
    "bcd",
    "ad",
    "bc",
    "abcd",
  ]);
  for (const wrong of ["0", "5", "3-9", "x", "-1"]) expect(pick(wrong)).toContain("No skill");
});

test("[U10] progress is one redrawn line with an estimate in a terminal, and nothing elsewhere", () => {
  const written: string[] = [];
  const write = (text: string): void => void written.push(text);
  const plain = createProgressLine({ write });
  plain.show({ what: "Scanning", done: 1, total: 4 });
  plain.end();
  expect(written).toEqual([]);
  let time = 0;
  const line = createProgressLine({ write, isTerminal: true }, () => time);
  line.show({ what: "Receiving\u001b[2J objects", done: 0, total: 4 });
  expect(written.splice(0)).toEqual([
    expect.stringMatching(/^\r\u001b\[2K\u001b\[\?7lReceiving\ufffd\[2J objects +\[-+\] 0%\u001b\[\?7h$/),
  ]);
  for (time = 1; time < 100; time += 1) line.show({ what: "Receiving\u001b[2J objects", done: 1, total: 4 });
  expect(written).toEqual([]); // Not more often than ten times a second.
  time = 2_000;
  line.show({ what: "Receiving\u001b[2J objects", done: 1, total: 4 });
  expect(written.splice(0).join("")).toContain("[#####---------------] 25%  about 6 s left");
  line.end();
  line.end();
  expect(written).toEqual(["\r\u001b[2K"]);
});
