/** Installing hundreds of skills: a screenful before the question, the whole in a pager, a few lines after. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createInstallWorld, DOUBTFUL, type InstallWorld } from "../../../test/support/installing.ts";
import { ROOT } from "../../../test/support/repository.ts";
import { writeTree } from "../../../test/support/temporary.ts";
import { skill } from "../../../test/support/world.ts";

const MANY = 60;

function createMany(): InstallWorld {
  const world = createInstallWorld();
  const files = Array.from({ length: MANY }, (_, index) => {
    const name = `s${String(index).padStart(3, "0")}`;
    return [`source/${name}/SKILL.md`, skill(name, index % 3 === 0 ? "allowed-tools: bash" : "")] as const;
  });
  writeTree(world.root, {
    ...Object.fromEntries(files),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((at) => [`source/s00${at}/go.sh`, DOUBTFUL] as const)),
  });
  return world;
}

function lines(text: string): number {
  return text.split("\n").length;
}

describe("[U10] many skills at once", () => {
  test("are a screenful with counts by risk and the risky ones in full, then a question with show all", async () => {
    const world = createMany();
    const { code, stdout, stderr } = await world.cliAnswering(
      ["what", "s", "no"],
      "install",
      "../source",
      "--all",
    );
    expect(code).toBe(1);
    const [summary = "", afterStray = "", whole = ""] = stdout.split("Install these 60 skills?");
    expect(lines(summary)).toBeLessThan(60);
    expect(summary).toContain("60 skills, 66 files");
    expect(summary).toMatch(/findings: +6 high, 20 low in 24 skills/);
    expect(summary).toMatch(/tools: +20 skills/);
    expect(summary).toMatch(/new: +s000, s001.*, and 36 more/);
    expect(summary).toContain("The s001 skill."); // A risky one, in full.
    expect(summary).toContain("go.sh:2");
    expect(summary).not.toContain("The s010 skill.");
    expect(summary).toContain("2 more skills with serious findings: s005, s006");
    expect(afterStray).toContain("[y]es, [N]o, [s]how all");
    expect(afterStray).toContain("Answer `yes`, `no` or `show`.");
    expect(whole).toContain("The s059 skill.");
    expect(stderr.trim()).toBe("✗ 60 skills: skipped");
    expect(world.stored()).toEqual([]);
  });

  test("are told together when they are installed, and asked about together", async () => {
    const world = createMany();
    const { code, stdout, stderr } = await world.cliAnswering(
      ["show", "all", "y", "n"],
      "install",
      "../source",
    );
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("The source has 60 skills:\n  s000, s001");
    expect(stdout).toContain("  60  s059");
    const after = stdout.slice(stdout.lastIndexOf("how all:"));
    expect(lines(after)).toBeLessThan(12);
    expect(after).toContain("✓ 60 skills are installed");
    expect(after).toContain("untrusted: 60 skills");
    expect(after).toMatch(/Trust s000, .*and 36 more exactly as installed\?/);
    const again = await world.cli("install", "../source", "--all");
    expect(lines(again.stdout)).toBeLessThan(25);
    const planned = await createMany().cli("install", "../source", "--all", "--dry-run");
    expect(planned.stdout).toContain("`--dry-run --json` shows every skill in full.");
    expect(lines(planned.stdout)).toBeLessThan(70);
  });
});

/** Runs the command line in a real terminal, types each answer when its question stands there, and gives what was shown. */
const PTY = `
import os, pty, sys, select, time
answers = [pair.split("=", 1) for pair in sys.argv[1].split("|")]
child, fd = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown, at, end = b"", 0, time.time() + 60
while time.time() < end:
    ready, _, _ = select.select([fd], [], [], 0.2)
    if ready:
        try: data = os.read(fd, 65536)
        except OSError: break
        if not data: break
        shown += data
    if answers and answers[0][0].encode() in shown[at:]:
        at = len(shown)
        os.write(fd, answers.pop(0)[1].encode() + b"\\r")
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`;

const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0;

describe.skipIf(!hasPython)("[U10] in a real terminal", () => {
  test("show all opens $PAGER, never a program from inside the project, and progress is gone at the end", () => {
    const world = createMany();
    writeTree(world.root, {
      "bin/page": `#!/bin/sh\ncat > ${join(world.root, "paged.txt")}\n`,
      "bin/less": `#!/bin/sh\ncat > ${join(world.root, "less.txt")}\n`,
      "project/bin/less": `#!/bin/sh\ntouch ${join(world.root, "pwned")}\ncat\n`,
    });
    for (const file of ["bin/page", "bin/less", "project/bin/less"]) chmodSync(join(world.root, file), 0o755);
    const run = (pager: string) =>
      spawnSync(
        "python3",
        [
          ...["-c", PTY, "how all:=s|how all:=n", process.execPath, join(ROOT, "packages/cli/src/main.ts")],
          ...["install", "../source", "--all", "--home", world.home],
        ],
        {
          cwd: world.project,
          encoding: "utf8",
          timeout: 90_000,
          env: {
            PATH: `${join(world.project, "bin")}:${join(world.root, "bin")}:/usr/bin:/bin`,
            PAGER: pager,
            TERM: "xterm",
          },
        },
      );
    const paged = run("page");
    expect(paged.stdout).toContain("60 skills: skipped");
    expect(readFileSync(join(world.root, "paged.txt"), "utf8")).toContain("The s059 skill.");
    expect(paged.stdout).not.toContain("The s059 skill.");
    expect(paged.stdout).toContain("\r\u001b[2K");
    run("less");
    expect(existsSync(join(world.root, "less.txt"))).toBe(true);
    run(join(world.project, "bin/less"));
    expect(existsSync(join(world.root, "pwned"))).toBe(false);
  });
});
