import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { isAlive } from "@metier/base/programs";
import { expect, test } from "vitest";
import { bridgeCommand } from "../support/bridges.ts";
import { COMPILED_CODE } from "../support/compiled-code.ts";
import { QUIET_PATH } from "../support/notes-bridge.ts";
import { until } from "../support/processes.ts";
import { createWorld, type World } from "../support/world.ts";

const PROGRAM = fileURLToPath(new URL("./capability-program.ts", import.meta.url));

function createMailWorld(): World {
  const world = createWorld();
  const command = JSON.stringify(bridgeCommand());
  world.write({
    "home/.metier/config.toml": `[capabilities.providers.mail]\ncommand = ${command}\npersistent = true\n`,
  });
  return world;
}

function startProgram({ home, project }: World, ending: string) {
  return spawn(process.execPath, ["--no-warnings", PROGRAM, home, project, ending], {
    env: { ...COMPILED_CODE, PATH: QUIET_PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

test("a program that used capabilities ends by itself, and its providers with it", async () => {
  const child = startProgram(createMailWorld(), "leave");
  const [answer, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  expect([code, complaint]).toEqual([0, ""]);
  const { pid } = JSON.parse(answer) as { readonly pid: number };
  await until("the provider has ended", () => !isAlive(pid));
});

test("closing ends the providers of a program that goes on", async () => {
  const child = startProgram(createMailWorld(), "close");
  let answer = "";
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => {
    answer += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    told += chunk;
  });
  try {
    await until("the program has closed them", () => told === "closed");
    const { pid } = JSON.parse(answer) as { readonly pid: number };
    await until("the provider has ended", () => !isAlive(pid));
    expect(child.exitCode).toBeNull();
  } finally {
    child.kill();
  }
});
