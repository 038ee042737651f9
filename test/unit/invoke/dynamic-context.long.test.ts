import { spawnSync } from "node:child_process";
import type { CommandPlace } from "@metier/run";
import type { CommandOutcome, SandboxCommand } from "@metier/sandbox";
import { findCommands } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { verifies } from "../../support/verifies.ts";
import { foreign, type InvocationWorld, invocationWorld, own } from "./invocation-world.ts";

const ON = "[skills]\ndynamic-context = true\n";

interface TestPlace extends CommandPlace {
  readonly asked: SandboxCommand[];
}

/** Runs commands as they are: what isolates them is proven where the sandbox is. */
function testPlace(folder: string, outcome: Partial<CommandOutcome> = {}): TestPlace {
  const asked: SandboxCommand[] = [];
  const world = {
    cwd: folder,
    workDir: folder,
    skillDir: "/the/skill",
    readable: [folder],
    writable: [],
    masked: [],
    protectedPaths: [],
  };
  return {
    asked,
    world,
    sandbox: {
      backend: "none",
      runsPrograms: true,
      async run(command) {
        asked.push(command);
        const [program = "", ...rest] = command.argv;
        const env = { PATH: process.env.PATH ?? "", ...command.env };
        const { status, stdout, stderr } = spawnSync(program, rest, { env, cwd: folder, encoding: "utf8" });
        return {
          ended: "exited",
          exitCode: status ?? -1,
          stdout,
          stderr,
          droppedBytes: 0,
          durationMs: 0,
          ...outcome,
        };
      },
    },
  };
}

async function render(
  body: string,
  {
    line = "",
    more = "",
    outcome = {},
  }: { line?: string; more?: string; outcome?: Partial<CommandOutcome> } = {},
): Promise<{ readonly text: string; readonly place: TestPlace; readonly world: InvocationWorld }> {
  const world = await invocationWorld({ files: own("x", more, body), config: ON });
  const place = testPlace(world.project, outcome);
  const prepared = await world.prepare({ skill: "x", arguments: line }, { commandPlace: async () => place });
  return { text: prepared.instructions, place, world };
}

describe("commands in a text", () => {
  test("are found in a line and as a block, and nowhere else", () => {
    const commands = (body: string): readonly string[] =>
      findCommands(body).flatMap((piece) => (piece.kind === "command" ? [piece.command] : []));
    expect(commands("A: !`git status` and\n!`date`")).toEqual(["git status", "date"]);
    expect(commands("```!\nnode --version\nls\n```\nx")).toEqual(["node --version\nls"]);
    expect(commands("Wow!`no` \\!`no` `!no` !`` ! `no`\n```sh\nls\n```\n```!\nopen")).toEqual([]);
    for (const body of ["a !`b` c", "```!\nx\n```", "!`", "plain"])
      expect(
        findCommands(body)
          .map(({ text }) => text)
          .join(""),
      ).toBe(body);
  });

  test("that almost match are not read twice", () => {
    for (const body of ["!`".repeat(50_000), "```!\n".repeat(20_000), " !`x".repeat(50_000)])
      expect(
        findCommands(body)
          .map(({ text }) => text)
          .join(""),
      ).toHaveLength(body.length);
  });

  test("are replaced by what they print", async () => {
    const { text } = await render("Now: !`echo one; echo two` end\n```!\necho block\n```\n");
    expect(text).toBe("Now: one\ntwo end\nblock");
  });

  test("get arguments as variables, which no shell reads as code", async () => {
    const line = `'$(echo evil)' '"; echo evil #'`;
    const body =
      'Do: !`printf "%s|" "$0" "$1" "$ARG_1" "$file" "$ARGUMENTS[1]"` !`echo $CLAUDE_SKILL_DIR` for $ARGUMENTS';
    const { text, place } = await render(body, { line, more: "arguments: [file, PATH]" });
    expect(text).toBe(
      `Do: $(echo evil)|"; echo evil #|"; echo evil #|$(echo evil)|"; echo evil #| /the/skill for ${line}`,
    );
    for (const { argv, env } of place.asked) {
      expect(argv.slice(0, 3)).toEqual(["bash", "--norc", "-c"]);
      expect(argv[3]).not.toContain("evil");
      expect(Object.keys(env)).not.toContain("PATH");
      expect(env).toMatchObject({ ARGUMENTS: line, ARG_0: "$(echo evil)" });
    }
  });

  verifies("case 64", "cannot come from arguments, nor arguments or commands from their output", async () => {
    const { text, place } = await render("A $ARGUMENTS B", { line: "!`id`" });
    expect(text).toBe("A !`id` B");
    expect(place.asked).toEqual([]);
    const outcome = { stdout: "!`id` $0 $ARGUMENTS" };
    const printed = await render("!`true`", { line: "x", outcome });
    expect(printed.text).toBe("!`id` $0 $ARGUMENTS\n\nARGUMENTS: x\n");
    expect(printed.place.asked).toHaveLength(1);
  });

  test("are bounded, and a failure is a short text in their place", async () => {
    const { text, place } = await render("!`echo no >&2; exit 3`");
    expect(text).toBe("[command `echo no >&2; exit 3` failed: exit code 3: no]");
    expect(place.asked[0]?.limits).toEqual({ timeoutMs: 10_000, maxOutputBytes: 16_384 });
    const late = await render("!`sleep 9`", { outcome: { ended: "timeout", stdout: "x" } });
    expect(late.text).toBe("[command `sleep 9` failed: timeout]");
    const long = await render("!`echo x`", { outcome: { droppedBytes: 7 } });
    expect(long.text).toBe("x\n[7 more bytes left out]");
    const hidden = await render("!`echo x`", { outcome: { stdout: "a\u202Eb\n" } });
    expect(hidden.text).toBe("ab");
    const many = await render("!`echo x`\n".repeat(21));
    expect(many.place.asked).toHaveLength(20);
    expect(many.text).toContain("at most 20 commands");
  });
});

describe("commands are left as written, and it is said why", () => {
  const BODY = "Status: !`git status $0` of $0";

  async function left(world: InvocationWorld, isSandboxed = true): Promise<string | undefined> {
    const place = testPlace(world.project);
    const { instructions, diagnostics } = await world.prepare(
      { skill: "x", arguments: "y" },
      isSandboxed ? { commandPlace: async () => place } : {},
    );
    expect(place.asked).toEqual([]);
    expect(instructions).toBe("Status: !`git status $0` of y");
    return diagnostics.find(({ code }) => code === "invoke.dynamic-context")?.message;
  }

  test("when the config does not allow them, which is the default", async () => {
    expect(await left(await invocationWorld({ files: own("x", "", BODY) }))).toContain(
      "`skills.dynamic-context` is off",
    );
  });

  verifies(179, "when the skill is untrusted", async () => {
    const world = await invocationWorld({ files: foreign("x", "", BODY), config: ON });
    expect(await left(world)).toContain("untrusted");
  });

  test("when a project asks for it in its own config", async () => {
    const world = await invocationWorld({
      files: { ...own("x", "", BODY), "project/.metier/config.toml": ON },
    });
    expect(await left(world)).toContain("is off");
  });

  test("when there is no sandbox, or the skill wants another shell", async () => {
    const world = await invocationWorld({ files: own("x", "", BODY), config: ON });
    expect(await left(world, false)).toContain("no sandbox");
    world.write(own("x", "shell: powershell", BODY));
    expect(await left(world)).toContain("`powershell`");
  });
});
