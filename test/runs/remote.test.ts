/** What a server's skill may do in a run: be followed, but execute nothing before it is approved. */
import { expect, test } from "vitest";
import { createListeningWorld, type ShelvedWorld, shelved } from "../support/mcp-shelf.ts";
import { calls, openRuns, programTool, says } from "../support/scripted-runs.ts";

const RUNNER = shelved("runner", { "scripts/go.sh": "echo went\n" }, { "allowed-tools": "launch" });
/** As a command would be: no setting allows it while an unapproved skill of a server is followed. */
const launch = programTool("launch", "Launched.", "execute");
const ALLOWED = { tools: { launch: "allow" } } as const;

async function openRunner(): Promise<ShelvedWorld> {
  const world = await createListeningWorld({ skills: [RUNNER] });
  await world.cli("remote", "refresh");
  return world;
}

test("an unapproved skill is run without anything that executes, and its origin is in the prompt", async () => {
  const world = await openRunner();
  const origin = { system: { contains: "The skill comes from the MCP server docs" } };
  const { run } = await openRuns(world, [calls("launch", {}, origin), says("Told.")], {
    tools: [launch],
    config: ALLOWED,
  });
  const { result } = await run({ skill: "docs:runner", message: "Go.", approve: "all" });
  expect(result).toMatchObject({ status: "completed", trust: "untrusted" });
  expect(result.denied).toMatchObject([{ tool: "launch", reason: expect.stringContaining("not approved") }]);
});

test("an approved one is run like any other that is trusted", async () => {
  const world = await openRunner();
  await world.cli("remote", "approve", "docs:runner");
  const { run } = await openRuns(world, [calls("launch", {}), says("Done.")], { tools: [launch] });
  const { result } = await run({ skill: "docs:runner", message: "Go." });
  expect(result).toMatchObject({ status: "completed", trust: "trusted", denied: [] });
});

test("a conversation that follows an unapproved skill executes nothing for the rest of it", async () => {
  const world = await openRunner();
  const script = [
    calls("use_skill", { skill: "docs:runner" }),
    calls("launch", {}),
    says("First."),
    calls("launch", {}),
    says("Second."),
  ];
  const { metier } = await openRuns(world, script, { tools: [launch], config: ALLOWED });
  const chat = await metier.chat({ approve: "all" });
  expect((await chat.send("Use it.")).denied).toMatchObject([{ tool: "launch" }]);
  expect((await chat.send("And again.")).denied).toMatchObject([{ tool: "launch" }]);
});

test("no script of an unapproved skill is run, whoever asks for it", async () => {
  const world = await openRunner();
  const { code, json } = await world.cli("script", "docs:runner", "scripts/go.sh", "--json");
  expect(code).toBe(3);
  expect(json.refusal).toMatchObject({
    reason: "trust",
    hint: expect.stringContaining("metier remote approve"),
  });
});
