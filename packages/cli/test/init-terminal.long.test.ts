/** `metier init` as a person has it: the real command in a real pseudo-terminal, with stand-ins for models on loopback. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { startProvider } from "../../../test/support/aimock.ts";
import { type OllamaTurn, startOllama } from "../../../test/support/ollama.ts";
import {
  HAS_TERMINAL,
  inTerminal,
  type TerminalOutcome,
  type TerminalStep,
} from "../../../test/support/terminal.ts";
import { createWorld, type World } from "../../../test/support/world.ts";

const NOBODY = { OLLAMA_HOST: "127.0.0.1:1" };
const CTRL_C = "\u0003";
const WHICH: TerminalStep = { expect: "q to quit [1]: " };

function init(
  world: World,
  steps: readonly TerminalStep[],
  environment: Readonly<Record<string, string>>,
): Promise<TerminalOutcome> {
  return inTerminal(steps, ["init"], {
    cwd: world.project,
    home: world.home,
    environment: { PATH: "/usr/bin:/bin", ...environment },
  });
}

function plain({ screen }: TerminalOutcome): string {
  return stripVTControlCharacters(screen).replaceAll("\r", "");
}

const configOf = ({ home }: World): string => join(home, ".metier", "config.toml");

/** Every file below the home folder. */
function filesOf({ home }: World): readonly string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

async function ollama(turns: readonly OllamaTurn[]): Promise<Readonly<Record<string, string>>> {
  const { host } = await startOllama([{ name: "qwen3:8b" }, { name: "llama3.2:3b", size: 3 }], turns);
  return { OLLAMA_HOST: host };
}

describe.skipIf(!HAS_TERMINAL)("[U3] `metier init` in a terminal", () => {
  test("without any model it says where it looked and what to do, asks nothing and writes nothing", async () => {
    const world = createWorld();
    const outcome = await init(world, [{ expect: "ollama pull" }], NOBODY);
    expect(outcome.code).toBe(6);
    expect(plain(outcome)).toContain("No model found. Metier looked for:");
    expect(plain(outcome)).not.toContain("Which one");
    expect(filesOf(world)).toEqual([]);
  });

  test("with Ollama it asks, tests with one call, writes with comments; the second run sees what is there", async () => {
    const world = createWorld();
    const { host, chats } = await startOllama([{ name: "qwen3:8b" }], [{ text: "Ready." }]);
    const first = await init(world, [WHICH, { send: "\r" }, { expect: "Next: " }], { OLLAMA_HOST: host });
    expect(first.code).toBe(0);
    expect(plain(first)).toMatch(/1\. Ollama qwen3:8b .*\n[\s\S]*It answered: Ready\. \(\d+\.\d s\)/);
    expect(chats).toHaveLength(1);
    const written = readFileSync(configOf(world), "utf8");
    expect(written).toMatch(/^# Metier's default model\. Written by `metier init`\.\n# Ollama serves it/);
    expect(written).toContain('[models.default]\nprovider = "ollama"\nmodel = "qwen3:8b"\n');

    const replace: TerminalStep = { expect: "Replace it? [y/N] " };
    const second = await init(world, [replace, { send: "\r" }, { expect: "Next: " }], { OLLAMA_HOST: host });
    expect(second.code).toBe(0);
    expect(plain(second)).toContain("Your default model is ollama/qwen3:8b.");
    expect(plain(second)).toContain("Kept ollama/qwen3:8b as your default model.");
    expect(chats).toHaveLength(2);
    expect(readFileSync(configOf(world), "utf8")).toBe(written);
  });

  test("with a key, its variable is written and its value is neither on the screen nor in a file", async () => {
    const world = createWorld();
    const provider = await startProvider([{ match: {}, response: { content: "Ready." } }]);
    const key = "sk-ant-0123456789-secret";
    const outcome = await init(world, [WHICH, { send: "1\r" }, { expect: "Next: " }], {
      ...NOBODY,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_BASE_URL: `${provider.url}/v1`,
    });
    expect(outcome.code).toBe(0);
    expect(readFileSync(configOf(world), "utf8")).toContain('api-key-env = "ANTHROPIC_API_KEY"');
    const texts = [outcome.screen, ...filesOf(world).map((file) => readFileSync(file, "utf8"))];
    expect(texts.filter((text) => text.includes("0123456789"))).toEqual([]);
  });

  test("a number that is not there is asked again; q writes nothing", async () => {
    const world = createWorld();
    const steps = [WHICH, { send: "7\r" }, { expect: "from 1 to 2" }, WHICH, { send: "q\r" }];
    const outcome = await init(world, steps, await ollama([{ text: "Ready." }]));
    expect(outcome.code).toBe(1);
    expect(plain(outcome)).toContain("Nothing was written.");
    expect(existsSync(configOf(world))).toBe(false);
  });

  test.each([
    ["at the question", [WHICH, { send: CTRL_C }]],
    ["while the model is tested", [WHICH, { send: "\r" }, { expect: "one short call" }, { send: CTRL_C }]],
  ] as const)("Ctrl-C %s ends it and leaves nothing behind", async (_, steps) => {
    const world = createWorld();
    const outcome = await init(world, steps, await ollama([{ hangs: true }]));
    expect(outcome.code).toBe(130);
    expect(filesOf(world)).toEqual([]);
    expect(plain(outcome)).not.toMatch(/Error:|\n\s+at /);
  });
});
