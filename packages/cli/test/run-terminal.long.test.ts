import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "@metier/run/model";
import { findByEnvironment } from "@metier/sandbox";
import { expect, test } from "vitest";
import { processesWith, until } from "../../../test/support/processes.ts";
import { CTRL_C, describeTerminal, inPseudoTerminal } from "../../../test/support/pseudo-terminal.ts";
import { sandboxTest } from "../../../test/support/sandbox.ts";
import { startStreaming } from "../../../test/support/streaming-provider.ts";
import { toolset } from "../../../test/support/toolset-world.ts";
import { createWorld, skill, type World } from "../../../test/support/world.ts";

function terminalWorld(script: Script, more = ""): World {
  const world = createWorld();
  const file = join(world.root, "script.json");
  world.write({
    "script.json": JSON.stringify(script),
    "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(file)}\n${more}`,
    "home/.metier/skills/reader/SKILL.md": skill("reader"),
  });
  return world;
}

const NO_MODEL = { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "", GEMINI_API_KEY: "", GOOGLE_API_KEY: "" };

const LOOKS: Script = [
  { answer: { text: "Let me look.", toolCalls: [{ tool: "list_files", input: {} }] } },
  { answer: { text: "One \u001b[31mline.\nAnother line.", delayMs: 1500 } },
];

describeTerminal("metier run in a terminal", () => {
  test("[U2] shows the answer as it comes, tools beside it, and a quiet line that is gone at the end", async () => {
    const { screen, lines, code } = await inPseudoTerminal(terminalWorld(LOOKS), ["run", "reader", "Go."]);
    expect(code).toBe(0);
    const [head, ...rest] = lines;
    expect(head).toMatch(/^reader scripted/);
    expect(rest).toEqual([
      "Let me look.",
      "▸ list_files {}",
      "One \ufffd[31mline.",
      "Another line.",
      expect.stringMatching(/^2 steps, 30 tokens, \d+\.\d s$/),
      "",
    ]);
    expect(screen).toMatch(/\d s · step 2 · 15 tokens · thinking/);
    expect(screen.indexOf("Let me look.")).toBeLessThan(screen.indexOf("list_files"));
  });

  test("[U2] cuts the quiet line and the tools to the width, and draws it at most ten times a second", async () => {
    const command = `echo ${"wide ".repeat(40)}`;
    const world = terminalWorld(
      [
        { answer: { toolCalls: [{ tool: "list_files", input: { path: command } }], delayMs: 800 } },
        { answer: { text: "Done.", delayMs: 1200 } },
      ],
      "",
    );
    const { screen, lines } = await inPseudoTerminal(world, ["run", "reader", "Go."], { columns: 40 });
    const drawn = [...screen.matchAll(/\u001b\[\?7l(.*?)\u001b\[\?7h/g)].map(([, line = ""]) => line);
    expect(drawn.length).toBeGreaterThan(0);
    for (const line of drawn) expect([...line.replace(/\u001b\[\d+m/g, "")].length).toBeLessThan(40);
    expect(lines.filter((line) => line.startsWith("▸"))).toEqual([expect.stringMatching(/^.{38}…$/u)]);
    expect(drawn.length).toBeLessThanOrEqual(10 * 60);
  });

  test("[U2] shows no progress with --quiet, and draws nothing into a file", async () => {
    const quiet = await inPseudoTerminal(terminalWorld(LOOKS), ["run", "reader", "Go.", "--quiet"]);
    expect(quiet.lines).toEqual(["Let me look.", "One \ufffd[31mline.", "Another line.", ""]);
    const { stdout, stderr } = await terminalWorld(LOOKS).cli("run", "reader", "Go.", "--quiet");
    expect(stdout).toBe("One \ufffd[31mline.\nAnother line.\n");
    expect(stderr).not.toContain("list_files");
  });

  test("an error is broken between words, and stays one line in a file", async () => {
    const world = createWorld();
    const args = ["run", "summarize-text", "Go."];
    const { lines, code } = await inPseudoTerminal(world, args, { environment: NO_MODEL });
    const [whole = ""] = (await createWorld({ environment: NO_MODEL }).cli(...args)).stderr.split("\n");
    expect(code).toBe(6);
    expect(whole.length).toBeGreaterThan(80);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.map((line) => line.trim()).join(" ")).toContain(whole);
  });

  test("Ctrl-C stops the run and leaves what was answered", async () => {
    const world = terminalWorld([
      { answer: { text: "So far.", toolCalls: [{ tool: "list_files", input: {} }] } },
      { answer: { text: "Never.", delayMs: 50_000 } },
    ]);
    const keys = [{ after: "step 2", send: CTRL_C }];
    const { lines, code } = await inPseudoTerminal(world, ["run", "reader", "Go."], { keys });
    expect(code).toBe(130);
    expect(lines).toContain("So far.");
    expect(lines).toContain("Stopping. Press Ctrl-C again to quit at once.");
    expect(lines.at(-2)).toBe("Stopped. The answer is incomplete.");
    expect(lines.join("\n")).not.toContain("Never.");
  });

  test("Ctrl-C at a question stops the run", async () => {
    const write = { tool: "write_file", input: { path: "x.txt", content: "x" } };
    const world = terminalWorld([{ answer: { toolCalls: [write] } }, { answer: { text: "Never." } }]);
    const keys = [{ after: "Allow? ", send: CTRL_C }];
    const { lines, code } = await inPseudoTerminal(world, ["run", "reader", "Go.", "--write"], { keys });
    expect(code).toBe(130);
    expect(lines.at(-2)).toBe("Stopped.");
    expect(lines.join("\n")).not.toContain("could not be asked");
    expect(existsSync(join(world.project, "x.txt"))).toBe(false);
  });

  sandboxTest("two Ctrl-C end everything at once, also what the run has started", async () => {
    const mark = `MARK_OF_RUN=${process.pid}-${Date.now()}`;
    const command = `trap "" INT TERM; echo started; ${mark} sleep 300`;
    const world = terminalWorld(
      [{ answer: { toolCalls: [{ tool: "bash", input: { command } }] } }],
      '[tools]\nbash = "allow"\n',
    );
    const keys = [{ after: "· bash", send: `${CTRL_C}${CTRL_C}` }];
    const { code } = await inPseudoTerminal(world, ["run", "reader", "Go."], { keys });
    expect(code).toBe(130);
    expect(findByEnvironment(mark)).toEqual([]);
  });

  test("[U2] Ctrl-C stops a run whose provider does not answer, and shows what there is", async () => {
    const world = terminalWorld([]);
    const provider = await startStreaming(() => ({ pieces: ["Just a", " moment"], hangs: true }));
    world.write({ "home/.metier/config.toml": provider.toml });
    const keys = [{ after: "moment", send: CTRL_C }];
    const { lines, code } = await inPseudoTerminal(world, ["run", "reader", "Go."], { keys });
    expect(code).toBe(130);
    expect(lines).toContainEqual(expect.stringContaining("Just a moment"));
    expect(lines.at(-2)).toBe("Stopped. The answer is incomplete.");
  });

  sandboxTest(
    "a second Ctrl-C does not wait for a tool that will not stop, and leaves no process",
    async () => {
      const { world, mark } = hangingWorld();
      const keys = [
        { after: "· hanger__hang", send: CTRL_C },
        { after: "· stopping", send: CTRL_C },
      ];
      const args = ["run", "hanger", "Go.", "--approve"];
      const { lines, code } = await inPseudoTerminal(world, args, { keys });
      expect(code).toBe(130);
      expect(lines).toContain("Stopping. Press Ctrl-C again to quit at once.");
      expect(lines.join("\n")).not.toContain("Stopped.");
      await until("the tool has ended", () => processesWith(mark).length === 0);
    },
  );

  sandboxTest("the first Ctrl-C is enough for a tool that will not stop", async () => {
    const { world, mark } = hangingWorld();
    const keys = [{ after: "· hanger__hang", send: CTRL_C }];
    const { lines, code } = await inPseudoTerminal(world, ["run", "hanger", "Go.", "--approve"], { keys });
    expect(code).toBe(130);
    expect(lines.at(-2)).toBe("Stopped. The answer is incomplete.");
    await until("the tool has ended", () => processesWith(mark).length === 0);
  });

  sandboxTest("in a chat, a second Ctrl-C leaves at once, too", async () => {
    const { world, mark } = hangingWorld();
    const keys = [
      { after: "> ", send: "/hanger go\r" },
      { after: "▸ hanger__hang", send: CTRL_C },
      { after: "Stopping. Press Ctrl-C again", send: CTRL_C },
    ];
    const { lines, code } = await inPseudoTerminal(world, ["chat", "--approve"], { keys });
    expect(code).toBe(130);
    expect(lines.join("\n")).not.toContain("Cancelled.");
    await until("the tool has ended", () => processesWith(mark).length === 0);
  });
});

/** A tool that hears of no signal and has started a process; `mark` is in that one's command line. */
function hangingWorld(): { readonly world: World; readonly mark: string } {
  const mark = `7${process.pid}${Date.now() % 100_000}`;
  const text = { text: "So far.", toolCalls: [{ tool: "hanger__hang", input: {} }] };
  const world = terminalWorld([{ answer: text }]);
  const start = `spawn("sleep", ["${mark}"]); for (;;) await new Promise((done) => setTimeout(done, 1000));`;
  const imports = 'import { spawn } from "node:child_process";';
  world.write({
    "home/.metier/skills/hanger/SKILL.md": skill("hanger", 'context: fork\ntoolsets: ["a:Tools"]'),
    "home/.metier/skills/hanger/a.js": toolset({ hang: start }, imports),
  });
  return { world, mark };
}
