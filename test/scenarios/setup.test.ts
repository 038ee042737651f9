import { describe, expect, test } from "vitest";
import { createDebian, type Debian, type DebianOptions } from "../support/debian.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill, type World } from "../support/world.ts";

/** As root without `sudo`. */
const COMMAND = /^(?:sudo )?apt-get install -y --no-install-recommends (.*)$/;

const USER_SKILLS = {
  "home/.metier/skills/pdf/SKILL.md": skill("pdf", "packages: [poppler-utils, jq]"),
  "home/.metier/skills/video/SKILL.md": skill("video", "packages: [ffmpeg, jq]"),
};

function open(
  options: DebianOptions,
  files: Readonly<Record<string, string>> = USER_SKILLS,
): World & { debian: Debian } {
  const debian = createDebian(options);
  const world = createWorld({ environment: { PATH: debian.path } });
  world.write(files);
  return { ...world, debian };
}

describe("what doctor says of system packages", () => {
  verifies(
    [31, 98],
    "each package of a usable skill once, sorted, with its skills and whether it is there",
    async () => {
      const world = open({ installed: ["jq"] });
      const { json } = await world.cli("doctor", "--json");
      const user = (name: string): object => ({ name, scope: "user", trust: "trusted" });
      expect(json.packages).toEqual([
        { name: "ffmpeg", installed: false, skills: [user("video")] },
        { name: "jq", installed: true, skills: [user("pdf"), user("video")] },
        { name: "poppler-utils", installed: false, skills: [user("pdf")] },
      ]);
      const { stdout } = await world.cli("doctor");
      expect(stdout).toContain("ffmpeg: missing (user:video)");
      expect(stdout).toContain("jq: installed (user:pdf, user:video)");
      expect(stdout).toContain("`metier setup`");
    },
  );

  test("skills that cannot be used want nothing, and untrusted ones are marked", async () => {
    const world = open(
      {},
      {
        "home/.metier/config.toml": '[skills]\ndisabled = ["off"]\n',
        "home/.metier/skills/off/SKILL.md": skill("off", "packages: [one]"),
        "home/.metier/skills/lacking/SKILL.md": skill(
          "lacking",
          "packages: [two]\nrequires: {bins: [no-such-program]}",
        ),
        "project/.metier/skills/local/SKILL.md": skill("local", "packages: [three]"),
      },
    );
    const { json } = await world.cli("doctor", "--json");
    expect(json.packages).toEqual([
      { name: "three", installed: false, skills: [{ name: "local", scope: "project", trust: "untrusted" }] },
    ]);
    expect((await world.cli("doctor")).stdout).toContain("three: missing (project:local untrusted)");
  });

  test("one skill is explained with its packages", async () => {
    const world = open({ installed: ["jq"] });
    const { stdout } = await world.cli("doctor", "pdf");
    expect(stdout).toContain("poppler-utils: missing");
    expect(stdout).not.toContain("ffmpeg");
    expect((await world.cli("doctor", "pdf", "--json")).json.packages).toHaveLength(2);
  });

  test("a system without `dpkg-query` does not know", async () => {
    const world = open({ without: ["dpkg-query", "apt-get", "apt-cache"] });
    const { json } = await world.cli("doctor", "--json");
    expect(json.packages[0]).toMatchObject({ name: "ffmpeg", installed: null });
  });
});

describe("metier setup", () => {
  verifies(
    98,
    "names the missing packages and the command that installs them, and runs nothing",
    async () => {
      const world = open({ installed: ["jq"], archive: ["ffmpeg", "poppler-utils"] });
      const { code, stdout } = await world.cli("setup");
      expect(code).toBe(0);
      expect(stdout).toContain("✓ jq (user:pdf, user:video): installed");
      expect(stdout).toMatch(/\+ ffmpeg \(user:video\): missing/);
      expect(stdout).toMatch(
        /^ {2}(?:sudo )?apt-get install -y --no-install-recommends ffmpeg poppler-utils$/m,
      );
      expect(world.debian.calls()).toEqual([]);
      const { json } = await world.cli("setup", "--json");
      expect(json.command).toMatch(COMMAND);
      expect(
        json.packages.map(({ name, status }: { name: string; status: string }) => [name, status]),
      ).toEqual([
        ["ffmpeg", "to-install"],
        ["jq", "installed"],
        ["poppler-utils", "to-install"],
      ]);
    },
  );

  test("leaves out, with the reason, what is untrusted, not in the archive or no name", async () => {
    const world = open(
      { archive: ["good", "foreign"] },
      {
        "home/.metier/skills/a/SKILL.md": skill("a", 'packages: [good, gone, "curl;reboot", "jq=1.6"]'),
        "project/.metier/skills/b/SKILL.md": skill("b", "packages: [foreign]"),
      },
    );
    const { stdout, json } = await world.cli("setup", "--json");
    expect(json.command).toMatch(/ good$/);
    expect(json.packages).toMatchObject([
      { name: "foreign", status: "left-out", reason: expect.stringContaining("`metier trust project:b`") },
      { name: "gone", status: "left-out", reason: expect.stringContaining("archive doesn't have it") },
      { name: "good", status: "to-install" },
    ]);
    expect(json.diagnostics).toMatchObject([
      { code: "package.name", line: 4, message: expect.stringContaining("`curl;reboot`") },
      { code: "package.name", line: 4, message: expect.stringContaining("`jq=1.6`") },
    ]);
    expect(stdout).not.toMatch(/install .*reboot/);
  });

  test("a package that a trusted skill wants too is installed", async () => {
    const world = open(
      { archive: ["jq"] },
      {
        "home/.metier/skills/a/SKILL.md": skill("a", "packages: [jq]"),
        "project/.metier/skills/b/SKILL.md": skill("b", "packages: [jq]"),
      },
    );
    expect((await world.cli("setup", "--json")).json.packages).toMatchObject([
      { name: "jq", status: "to-install" },
    ]);
  });

  test("is about named skills alone when some are named", async () => {
    const world = open({ archive: ["ffmpeg", "poppler-utils", "jq"] });
    expect((await world.cli("setup", "pdf", "--json")).json.command).toMatch(/ jq poppler-utils$/);
    expect((await world.cli("setup", "nobody")).code).toBe(1);
    world.write({ "home/.metier/config.toml": '[skills]\ndisabled = ["pdf"]\n' });
    const { code, stderr } = await world.cli("setup", "pdf");
    expect(code).toBe(3);
    expect(stderr).toContain("`pdf` can't be used");
  });

  test("promises no installation that cannot be, as of packages that an untrusted skill locks", async () => {
    const world = open(
      {},
      {
        "project/.metier/skills/b/SKILL.md": skill("b"),
        "project/.metier/skills/b/requirements.txt": "six==1.16.0\n",
      },
    );
    const { stdout } = await world.cli("setup");
    expect(stdout).toContain("1 python package, not installed");
    expect(stdout).toContain("it is untrusted here.");
    expect(stdout).not.toContain("metier setup --install");
  });

  test("says so when nothing is wanted", async () => {
    const world = open({}, { "home/.metier/skills/a/SKILL.md": skill("a") });
    const { code, stdout } = await world.cli("setup", "--install");
    expect(code).toBe(0);
    expect(stdout).toContain("No usable skill needs anything installed.");
  });
});

describe("metier setup --install", () => {
  verifies(98, "installs after the word was typed, and passes on what apt says", async () => {
    const world = open({ installed: ["jq"], archive: ["ffmpeg", "poppler-utils"] });
    const { code, stdout, stderr } = await world.cliAnswering(["install"], "setup", "--install");
    expect(stderr).toBe("a warning\n");
    expect(code).toBe(0);
    expect(stdout).toContain("Reading package lists...");
    expect(world.debian.calls()).toEqual(["install -y --no-install-recommends ffmpeg poppler-utils"]);
    expect((await world.cli("setup", "--json")).json.command).toBeNull();
  });

  test.each(["", "y", "yes", "INSTALL", "install it"])("the answer %j installs nothing", async (answer) => {
    const world = open({ archive: ["ffmpeg", "poppler-utils", "jq"] });
    const { code, stderr } = await world.cliAnswering([answer], "setup", "--install");
    expect(code).toBe(3);
    expect(stderr).toMatch(/To install them yourself: (?:sudo )?apt-get install/);
    expect(world.debian.calls()).toEqual([]);
  });

  test("without a terminal it is refused with the command to type", async () => {
    const world = open({ archive: ["ffmpeg", "poppler-utils", "jq"] });
    const { code, stderr } = await world.cli("setup", "--install");
    expect(code).toBe(3);
    expect(stderr).toContain("confirm in a terminal");
    expect(stderr).toContain("apt-get install -y --no-install-recommends ffmpeg jq poppler-utils");
    expect(world.debian.calls()).toEqual([]);
  });

  test("with `--json` nobody can be asked, not even in a terminal", async () => {
    const world = open({ archive: ["ffmpeg", "poppler-utils", "jq"] });
    const { code, json } = await world.cliAnswering([], "setup", "--install", "--json");
    expect(code).toBe(3);
    expect(json.error).toMatchObject({
      code: "setup.refused",
      hint: expect.stringContaining("apt-get install"),
    });
    expect(world.debian.calls()).toEqual([]);
  });

  test.each(["--yes", "--approve"])("%s does not answer for a person", async (flag) => {
    const world = open({ archive: ["ffmpeg", "poppler-utils", "jq"] });
    expect((await world.cli("setup", "--install", flag)).code).not.toBe(0);
    expect(world.debian.calls()).toEqual([]);
  });

  test("what is left out makes it end with 3, after the rest is installed", async () => {
    const world = open({ archive: ["ffmpeg"], installed: ["jq"] });
    const { code, stdout } = await world.cliAnswering(["install"], "setup", "--install");
    expect(code).toBe(3);
    expect(stdout).toContain("✗ poppler-utils (user:pdf): left out");
    expect(world.debian.calls()).toEqual(["install -y --no-install-recommends ffmpeg"]);
  });

  test("a failed installation ends with 5", async () => {
    const world = open({ archive: ["ffmpeg", "poppler-utils", "jq"], exitCode: 100 });
    const { code, stderr } = await world.cliAnswering(["install"], "setup", "--install");
    expect(code).toBe(5);
    expect(stderr).toContain("ended with 100");
  });

  test("a system without apt is told to do it by hand, and ends with 6", async () => {
    const world = open({ without: ["dpkg-query", "apt-get", "apt-cache"] });
    for (const flags of [[], ["--install"]]) {
      const { code, stdout } = await world.cli("setup", ...flags);
      expect(code).toBe(6);
      expect(stdout).toContain("this system has no apt; install the equivalent package yourself");
    }
  });
});
