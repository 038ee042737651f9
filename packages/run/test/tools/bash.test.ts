import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandOutcome, chooseSandbox, type Sandbox, type SandboxCommand } from "@metier/sandbox";
import { createRedactor } from "@metier/sandbox/secrets";
import { describe, expect, test } from "vitest";
import { createRunFolders } from "../../../../test/support/run-world.ts";
import { describeSandbox } from "../../../../test/support/sandbox.ts";
import { toolContext } from "../../../../test/support/tool-context.ts";
import { bashToolFor } from "../../src/tools/run-command.ts";

const bashTool = bashToolFor([]);
const DONE: CommandOutcome = {
  ended: "exited",
  exitCode: 0,
  stdout: "",
  stderr: "",
  droppedBytes: 0,
  durationMs: 1,
};

/** A sandbox that notes what it is asked and always answers the same. */
function answering(outcome: Partial<CommandOutcome>): { sandbox: Sandbox; asked: SandboxCommand[] } {
  const asked: SandboxCommand[] = [];
  const run = async (command: SandboxCommand): Promise<CommandOutcome> => {
    asked.push(command);
    for (const stream of ["stdout", "stderr"] as const)
      command.onOutput?.(stream, Buffer.from(outcome[stream] ?? ""));
    return { ...DONE, ...outcome };
  };
  return { sandbox: { backend: "bubblewrap", runsPrograms: true, run }, asked };
}

describe("what is executed", () => {
  test("the command goes to a shell as one word", async () => {
    const { sandbox, asked } = answering({});
    await bashTool.execute({ command: "echo $HOME; ls" }, toolContext({ sandbox, env: { KEY: "v" } }));
    expect(asked[0]?.argv).toEqual([expect.stringMatching(/^(ba)?sh$/), "-c", "echo $HOME; ls"]);
    expect(asked[0]?.env).toEqual({ KEY: "v" });
    expect(asked[0]?.limits.timeoutMs).toBe(120_000);
  });

  test("words that a pattern allowed are executed without a shell", async () => {
    const { sandbox, asked } = answering({});
    const argv = ["git", "log", "$HOME"];
    await bashTool.execute({ command: "git log '$HOME'", timeout_ms: 5 }, toolContext({ sandbox, argv }));
    expect(asked[0]?.argv).toEqual(argv);
    expect(asked[0]?.limits.timeoutMs).toBe(5);
  });

  test("nothing is, without a sandbox", async () => {
    const output = await bashTool.execute({ command: "echo ran" }, toolContext());
    expect(output.isError).toBe(true);
    expect(output.text).toMatch(/commands do not run/i);
    expect(output.text).not.toContain("stdout");
  });
});

describe("what a model is told", () => {
  const tell = async (
    outcome: Partial<CommandOutcome>,
    more = {},
  ): Promise<{ text: string; isError: boolean }> =>
    bashTool.execute({ command: "x", timeout_ms: 50 }, toolContext({ ...answering(outcome), ...more }));

  test("both streams apart, and the exit code", async () => {
    expect(await tell({ stdout: "out\n", stderr: "err\n" })).toEqual({
      isError: false,
      text: "Exit code 0.\nstdout:\nout\nstderr:\nerr",
    });
    expect(await tell({ exitCode: 2 })).toEqual({ isError: true, text: "Exit code 2.\nstdout: (empty)" });
  });

  test("how else a command ended, and why", async () => {
    for (const [outcome, text] of [
      [
        { ended: "signalled", signal: "SIGSEGV", exitCode: 139 },
        "Exit code 139: the command was killed by SIGSEGV.",
      ],
      [{ ended: "timeout", stdout: "so far" }, "timed out after 50 ms"],
      [{ ended: "cancelled" }, "because the run was"],
      [{ ended: "limit", reason: "It had 900 processes." }, "at a limit: It had 900 processes."],
      [{ ended: "refused", reason: "There is no command." }, "not run. There is no command."],
      [{ exitCode: 127, stderr: "bash: line 1: uvx: command not found\n" }, '`[sandbox] programs = ["uvx"]`'],
    ] as const) {
      const told = await tell(outcome);
      expect(told.text).toContain(text);
      expect(told.isError).toBe(true);
    }
    expect((await tell({ ended: "timeout", stdout: "so far" })).text).toContain("so far");
  });

  test("beginning and end of a long output, and where the whole is, without secrets", async () => {
    const folders = createRunFolders();
    const middle = "x".repeat(40_000);
    const secret = "hunter2hunter2";
    const told = await tell(
      { stdout: `first ${middle} last ${secret}`, stderr: "warning" },
      {
        callId: "call/../1",
        world: folders.world(),
        redactStream: () => createRedactor([{ name: "KEY", value: secret }]).stream(),
      },
    );
    expect(told.text.length).toBeLessThan(31_000);
    expect(told.text).toContain("stdout:\nfirst ");
    expect(told.text).toMatch(/ last \[redacted:KEY\]\nstderr:\nwarning$/);
    expect(told.text).toMatch(/\[… \d+ characters left out …\]/);
    const file = join(folders.work, "output", "call----1-stdout.txt");
    expect(told.text).toContain(file);
    expect(readFileSync(file, "utf8")).toBe(`first ${middle} last [redacted:KEY]`);
  });

  test("a share of each stream when both are long", async () => {
    const folders = createRunFolders();
    const long = { stdout: "o".repeat(50_000), stderr: "e".repeat(50_000) };
    const { text } = await tell(long, { world: folders.world() });
    expect(text.length).toBeLessThan(31_000);
    expect(text.match(/o{1000}/g)?.length).toBeGreaterThan(15);
    expect(text.match(/e{1000}/g)?.length).toBeGreaterThan(7);
  });
});

describeSandbox("in a real sandbox", () => {
  test("a command works with the files of the run", async () => {
    const folders = createRunFolders();
    folders.write({ "project/numbers.txt": "3\n1\n2\n" });
    const { sandbox } = await chooseSandbox({ backend: "auto" });
    const context = toolContext({ world: folders.world(), ...(sandbox && { sandbox }) });
    const output = await bashTool.execute({ command: "sort numbers.txt | tee ~/sorted.txt" }, context);
    expect(output).toEqual({ isError: false, text: "Exit code 0.\nstdout:\n1\n2\n3" });
    expect(readFileSync(join(folders.work, "sorted.txt"), "utf8")).toBe("1\n2\n3\n");
  });
});

describe("what a model is told about the network", () => {
  test("that there is none, which domains there are, or that it is the user's", () => {
    const none = "There is no network and no terminal.";
    expect(bashTool.description).toContain(none);
    expect(bashToolFor([]).description).toBe(bashTool.description);
    const granted = bashToolFor(["example.com", "*.example.org"], "bubblewrap").description;
    expect(granted).toContain("only `example.com`, `*.example.org` can be reached");
    expect(granted).not.toContain("no network");
    expect(bashToolFor(["example.com"], "just-bash").description).toContain(none);
    expect(bashToolFor(["example.com"], "none").description).toContain("The network is the user's own.");
  });

  test("of many domains the first, and how many more there are", () => {
    const many = Array.from({ length: 25 }, (_, index) => `site${index}.test`);
    const { description } = bashToolFor(many);
    expect(description).toContain("`site19.test` and 5 more");
    expect(description).not.toContain("site20");
  });
});
