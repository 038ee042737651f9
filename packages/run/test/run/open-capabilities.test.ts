import type { CapabilityBroker } from "@metier/capabilities";
import type { Sandbox, SandboxCommand } from "@metier/sandbox";
import { createRedactor } from "@metier/sandbox/secrets";
import { expect, test } from "vitest";
import { createRunFolders } from "../../../../test/support/run-world.ts";
import { createRunWorld } from "../../../../test/support/scripted-runs.ts";
import { createPreflight, reportUnlinked } from "../../src/run/capability-preflight.ts";
import { createCapabilityNotes, openCapabilities } from "../../src/run/open-capabilities.ts";
import { createQuestionQueue } from "../../src/run/run-policy.ts";
import type { RunHost } from "../../src/run/run-request.ts";

const OUTCOME = {
  ended: "exited",
  exitCode: 0,
  stdout: "",
  stderr: "",
  droppedBytes: 0,
  durationMs: 1,
} as const;

async function openFor(broker: () => Promise<CapabilityBroker>, trust: "trusted" | "untrusted" = "trusted") {
  const folders = createRunFolders();
  const metier = await createRunWorld({ memo: ["capabilities: [memo.notes]"] }).metier();
  const commands: SandboxCommand[] = [];
  const sandbox: Sandbox = {
    backend: "bubblewrap",
    runsPrograms: true,
    async run(command) {
      commands.push(command);
      return OUTCOME;
    },
  };
  const opened = openCapabilities({
    sandbox,
    skill: metier.require("memo"),
    trust,
    host: { capabilities: { broker }, places: metier.places, config: () => metier.config.config } as Pick<
      RunHost,
      "capabilities" | "places" | "config"
    >,
    request: { caller: { userId: "alice" } },
    runId: "r1",
    redactor: createRedactor(),
    capabilityNotes: createCapabilityNotes(),
    questions: createQuestionQueue(),
  });
  const command: SandboxCommand = {
    argv: ["true"],
    world: folders.world(),
    env: { PLAIN: "1", METIER_CONTEXT_TOKEN: "forged" },
    limits: { timeoutMs: 1000, maxOutputBytes: 1000 },
  };
  return { opened, commands, command, skill: metier.require("memo"), sandbox };
}

const NO_BROKER = {} as CapabilityBroker;

test("each command gets another token and the same socket, whatever its own variables say", async () => {
  const { opened, commands, command } = await openFor(async () => NO_BROKER);
  await opened.sandbox.run(command);
  await opened.sandbox.run(command);
  await opened.close();
  const [first, second] = commands;
  expect(first?.capabilitySocket).toBe(second?.capabilitySocket);
  expect(first?.env).toMatchObject({ PLAIN: "1", METIER_RPC_SOCKET: "/run/metier/capability.sock" });
  expect(first?.env).not.toHaveProperty("ASH_CONTEXT_TOKEN");
  const tokens = new Set([first, second].map((given) => given?.env.METIER_CONTEXT_TOKEN));
  expect(tokens.size).toBe(2);
  expect(tokens).not.toContain("forged");
});

test("where they cannot be opened no command is run; the next one tries again", async () => {
  let attempts = 0;
  const { opened, commands, command } = await openFor(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error("the key file is damaged");
    return NO_BROKER;
  });
  expect(await opened.sandbox.run(command)).toMatchObject({
    ended: "refused",
    reason: expect.stringContaining("the key file is damaged"),
  });
  expect(commands).toEqual([]);
  expect(await opened.sandbox.run(command)).toEqual(OUTCOME);
  await opened.close();
});

test("nothing is opened before a command is run, and nothing for an untrusted skill", async () => {
  const never = (): Promise<never> => Promise.reject(new Error("Nobody is asked."));
  const { opened } = await openFor(never);
  await opened.close();
  const untrusted = await openFor(never, "untrusted");
  expect(untrusted.opened.sandbox).toBe(untrusted.sandbox);
});

test("a broker that cannot be asked refuses the run, and is no fault of the program", async () => {
  const capabilities = { broker: () => Promise.reject(new Error("the audit log cannot be read")) };
  const refuse = createPreflight(capabilities);
  expect(await refuse(["memo.notes"], { userId: "alice" })).toMatchObject({
    message: expect.stringContaining("the audit log cannot be read"),
    hint: expect.stringContaining("metier doctor"),
  });
  const { skill } = await openFor(async () => NO_BROKER);
  expect(await reportUnlinked(skill, capabilities, { userId: "alice" })).toEqual([]);
});
