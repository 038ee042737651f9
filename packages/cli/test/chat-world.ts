/** A world with a scripted model, and a person at a terminal over it. */
import { join } from "node:path";
import { CancelledError } from "@metier/base/errors";
import type { Script } from "@metier/run/model";
import { createWorld, type World } from "../../../test/support/world.ts";
import type { LineInput } from "../src/context.ts";
import { runCli } from "../src/run-cli.ts";

export function chatWorld(script: Script, config = ""): World {
  const world = createWorld();
  const file = join(world.root, "script.json");
  world.write({
    "script.json": JSON.stringify(script),
    "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(file)}\n${config}`,
  });
  return world;
}

/** A person at a terminal. */
interface Terminal {
  /** What is typed at the prompt, one after the other; then Ctrl-D. */
  readonly lines: readonly (string | LineInput)[];
  /** Answers to questions; then Ctrl-C. */
  readonly answers?: readonly string[];
  /** When to press Ctrl-C during an answer: as soon as this is on the screen. */
  readonly interruptAt?: string;
  readonly times?: number;
}

interface Shown {
  readonly code: number;
  /** Both streams, as a terminal mixes them. */
  readonly screen: string;
  readonly prompts: number;
}

export async function inTerminal(
  world: World,
  terminal: Terminal,
  ...args: readonly string[]
): Promise<Shown> {
  let screen = "";
  let prompts = 0;
  let interrupt: (() => void) | undefined;
  const lines = [...terminal.lines];
  const answers = [...(terminal.answers ?? [])];
  const stream = {
    write(text: string) {
      screen += text;
      if (terminal.interruptAt === undefined || !text.includes(terminal.interruptAt)) return;
      queueMicrotask(() => {
        for (let press = 0; press < (terminal.times ?? 1); press += 1) interrupt?.();
      });
    },
  };
  const code = await runCli(["chat", ...args, "--home", world.home], {
    stdout: stream,
    stderr: stream,
    cwd: world.project,
    environment: { PATH: process.env.PATH ?? "" },
    interactive: true,
    color: false,
    async ask(question) {
      screen += question;
      const answer = answers.shift();
      if (answer === undefined) throw new CancelledError();
      return answer;
    },
    async readLine(prompt) {
      prompts += 1;
      const next = lines.shift() ?? { kind: "end" };
      const typed: LineInput = typeof next === "string" ? { kind: "line", text: next } : next;
      screen += `${prompt}${typed.kind === "line" ? typed.text : ""}\n`;
      return typed;
    },
    onInterrupt(end) {
      interrupt = end;
      return () => {
        interrupt = undefined;
      };
    },
  });
  return { code, screen, prompts };
}
