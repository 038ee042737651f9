/** `metier chat` as a person has it: the real command in a real pseudo-terminal, over a model on loopback. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";
import { HAS_TERMINAL, inTerminal, type TerminalStep } from "../support/terminal.ts";
import { createWorld, type World } from "../support/world.ts";

const READY: TerminalStep = { expect: "> " };
const EXIT: readonly TerminalStep[] = [READY, { send: "/exit\r" }];
const type = (text: string): readonly TerminalStep[] => [READY, { send: `${text}\r` }];

async function chatWorld(answer: (body: string) => StreamedAnswer) {
  const world = createWorld();
  const provider = await startStreaming(answer);
  world.write({ "home/.metier/config.toml": provider.toml });
  return { world, provider };
}

const run = (world: World, steps: readonly TerminalStep[], ...args: readonly string[]) =>
  inTerminal(steps, ["chat", ...args], { cwd: world.project, home: world.home });

/** The text of the user's last message. */
function lastMessage(body: string): string {
  const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
  const last = messages.findLast(({ role }) => role === "user")?.content;
  return typeof last === "string" ? last : JSON.stringify(last);
}

describe.skipIf(!HAS_TERMINAL)("a chat in a terminal", () => {
  test("[U15] Markdown is rendered while it streams", async () => {
    const pieces = ["# Ti", "tle\n\nSome **bo", "ld** text.\n\n- one\n", "- two\n\n```\ncode\n```\n"];
    const { world } = await chatWorld(() => ({ pieces }));
    const { screen, code } = await run(world, [...type("Hi."), { expect: "code" }, ...EXIT]);
    expect(code).toBe(0);
    expect(screen).toContain("\u001b[1mbold\u001b[22m");
    expect(stripVTControlCharacters(screen).replaceAll("\r", "")).toContain(
      "Title\n\nSome bold text.\n\n• one\n• two\n\n  code\n",
    );
  });

  test("[U15] a text has several lines by a backslash, Ctrl-J, Alt-Enter and a paste", async () => {
    const { world, provider } = await chatWorld(() => ({ pieces: ["Yes."] }));
    const steps: readonly TerminalStep[] = [
      READY,
      { send: "one\\" },
      { expect: "\\" },
      { send: "\r" },
      { expect: "  " },
      { send: "two" },
      { expect: "two" },
      { send: "\n" },
      { expect: "  " },
      { send: "three" },
      { expect: "three" },
      { send: "\u001b\r" },
      { expect: "  " },
      { send: "four" },
      { expect: "four" },
      { send: "\u001b[200~ five\rsix\u001b[201~" },
      { expect: "six" },
      { send: "\r" },
      { expect: "Yes." },
      ...EXIT,
    ];
    await run(world, steps);
    expect(lastMessage(provider.requests[0] ?? "{}")).toBe("one\ntwo\nthree\nfour five\nsix");
  });

  test("[U15] what was typed is there in the next session, without secrets, for the user alone", async () => {
    const { world, provider } = await chatWorld(() => ({ pieces: ["Yes."] }));
    world.write({ "home/.metier/config.toml": `${provider.toml}api-key = "sk-very-secret-value"\n` });
    await run(world, [...type("Remember sk-very-secret-value."), { expect: "Yes." }, ...EXIT]);
    const file = join(world.home, ".metier/state/chat-history.jsonl");
    expect(readFileSync(file, "utf8")).toMatch(/^"Remember .*"\n"\/exit"\n$/);
    expect(readFileSync(file, "utf8")).not.toContain("very-secret");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const up = "\u001b[A\u001b[A";
    await run(world, [
      READY,
      { send: up },
      { expect: "Remember" },
      { send: "\r" },
      { expect: "Yes." },
      ...EXIT,
    ]);
    expect(provider.requests).toHaveLength(2);
  });

  test("[U15] Tab completes commands, skills and files, and @file adds a text", async () => {
    const { world, provider } = await chatWorld(() => ({ pieces: ["Read."] }));
    world.write({ "project/notes/tides.md": "The tide is high.\n" });
    const steps: readonly TerminalStep[] = [
      READY,
      { send: "/summ\t" },
      { expect: "/summarize-text " },
      { send: "\u0015/sk\t" },
      { expect: "/skills " },
      { send: "\u0015Read @no\t" },
      { expect: "@notes/" },
      { send: "ti\t" },
      { expect: "@notes/tides.md " },
      { send: "now.\r" },
      { expect: "+ notes/tides.md" },
      { expect: "Read." },
      ...type("See @../outside.md and ask @ada"),
      { expect: "was not added" },
      { expect: "Read." },
      ...EXIT,
    ];
    await run(world, steps);
    expect(lastMessage(provider.requests[0] ?? "{}")).toBe(
      "Read @notes/tides.md now.\n\nFile `notes/tides.md`:\n```\nThe tide is high.\n```",
    );
    expect(lastMessage(provider.requests[1] ?? "{}")).toBe("See @../outside.md and ask @ada");
  });

  test("Ctrl-C stops the answer, and the chat goes on", async () => {
    const { world, provider } = await chatWorld((body) =>
      lastMessage(body) === "Slow." ? { pieces: ["Just a mo"], hangs: true } : { pieces: ["Quick."] },
    );
    const steps: readonly TerminalStep[] = [
      ...type("Slow."),
      { expect: "Just" },
      { send: "\u0003" },
      { expect: "Cancelled." },
      ...type("Fast."),
      { expect: "Quick." },
      ...EXIT,
    ];
    const { code } = await run(world, steps);
    expect(code).toBe(0);
    expect(provider.requests).toHaveLength(2);
  });

  test("[U15] a write shows its diff, and `always` writes the rule that was shown", async () => {
    let calls = 0;
    const { world } = await chatWorld((body) => {
      if (lastMessage(body) !== "Write." || calls >= 2) return { pieces: ["Done."] };
      calls += 1;
      return {
        pieces: [],
        call: { tool: "write_file", input: { path: `out/${calls}.txt`, content: "new\n" } },
      };
    });
    const steps: readonly TerminalStep[] = [
      ...type("Write."),
      { expect: "+new" },
      { expect: '"write_file(./out/**)" = "allow"' },
      { expect: "Allow? " },
      { send: "a\r" },
      { expect: "Done." },
      ...EXIT,
    ];
    const { screen } = await run(world, steps, "--write");
    expect(screen.match(/Allow\? /g)).toHaveLength(1);
    expect(existsSync(join(world.project, "out/2.txt"))).toBe(true);
    expect(readFileSync(join(world.home, ".metier/config.toml"), "utf8")).toContain(
      '[tools]\n"write_file(./out/**)" = "allow"',
    );
  });

  test("[U15] a yes that was typed before the question is no answer to it", async () => {
    const call = { tool: "write_file", input: { path: "a.txt", content: "x" } };
    const { world } = await chatWorld((body) => {
      if (body.includes('"role":"tool"')) return { pieces: ["Done."] };
      // The model takes its time, so that the yes is typed before it asks for anything.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      return { pieces: ["I will ", "write it"], call };
    });
    const steps: readonly TerminalStep[] = [
      ...type("Write."),
      { expect: "\u001b[?2004l" },
      { send: "y\n" },
      { expect: "Allow? " },
      { send: "n\r" },
      { expect: "Done." },
      ...EXIT,
    ];
    const { screen } = await run(world, steps, "--write");
    expect(screen).toContain("the user declined");
    expect(existsSync(join(world.project, "a.txt"))).toBe(false);
    expect(screen.lastIndexOf("write it")).toBeLessThan(screen.indexOf("wants to call"));
  });

  test("[U15] a chat that was killed in the middle of a turn goes on with the turns before", async () => {
    const { world, provider } = await chatWorld((body) => {
      const said = lastMessage(body);
      return said === "Hang." ? { pieces: ["Wai"], hangs: true } : { pieces: [`About ${said}`] };
    });
    const steps: readonly TerminalStep[] = [
      ...type("tides"),
      { expect: "About tides" },
      ...type("Hang."),
      { expect: "\r\n" },
      { kill: true },
    ];
    expect((await run(world, steps)).code).not.toBe(0);
    const again: readonly TerminalStep[] = [
      { expect: "Continuing a chat with 1 turn" },
      ...type("moons"),
      { expect: "About moons" },
      ...type("/continue"),
      { expect: "tides" },
      ...type("/cost"),
      { expect: "tokens" },
      ...EXIT,
    ];
    expect((await run(world, again, "--continue")).code).toBe(0);
    expect(provider.requests.at(-1)).toContain("About tides");
    expect(provider.requests.at(-1)).not.toContain("Hang.");
  });
});
