/** Skills as prompts: what a person picks in a client. */
import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { serve } from "../../../../test/support/mcp-clients.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import type { McpServerOptions } from "../../src/mcp/mcp-server.ts";

const SKILLS = "home/.metier/skills";

async function open(options: McpServerOptions = {}): Promise<Client> {
  const world = createWorld();
  world.write({
    [`${SKILLS}/greet/SKILL.md`]: skill("greet", 'argument-hint: "<name>"', "Greet $ARGUMENTS."),
    [`${SKILLS}/move/SKILL.md`]: skill("move", "arguments: [from, to]", "Move $from to $to."),
    [`${SKILLS}/manual/SKILL.md`]: skill("manual", "disable-model-invocation: true", "By hand."),
    [`${SKILLS}/hidden/SKILL.md`]: skill("hidden", "user-invocable: false"),
    [`${SKILLS}/diary/SKILL.md`]: skill("diary", "sensitive: true"),
    [`${SKILLS}/forking/SKILL.md`]: skill("forking", "context: fork"),
  });
  return (await serve(await world.metier(), options)).connect();
}

async function get(client: Client, name: string, given: Record<string, string> = {}): Promise<string> {
  const { messages } = await client.getPrompt({ name, arguments: given });
  return messages.map(({ content }) => (content.type === "text" ? content.text : "")).join("\n");
}

test("there is a prompt for every skill that this user may call, with its arguments", async () => {
  const { prompts } = await (await open()).listPrompts();
  const told = prompts.map(({ name, arguments: taken = [] }) => [
    name,
    taken.map((argument) => argument.name),
  ]);
  expect(told).toEqual([
    ["forking", ["arguments"]],
    ["greet", ["arguments"]],
    ["manual", ["arguments"]],
    ["move", ["arguments", "from", "to"]],
  ]);
  expect(prompts[1]?.arguments?.[0]?.description).toBe("Arguments as on a command line: <name>.");
});

test("a prompt is the skill's text with the arguments put in, as a line or by name", async () => {
  const client = await open();
  expect(await get(client, "greet", { arguments: "Ada and Bo" })).toContain("Greet Ada and Bo.");
  expect(await get(client, "move", { from: "it's here", to: "there" })).toContain("Move it's here to there.");
  expect(await get(client, "move", { to: "there" })).toContain("Move  to there.");
  expect(await get(client, "move", { arguments: "a 'b c'" })).toContain("Move a to b c.");
  expect(await get(client, "manual")).toContain("By hand.");
});

test.each([
  ["hidden", {}, "There is no prompt `hidden`"],
  ["diary", {}, "There is no prompt `diary`"],
  ["greet", { who: "Ada" }, "has no argument `who`; it takes `arguments`"],
  ["move", { arguments: "a b", to: "c" }, "either `arguments` or its named arguments"],
  ["forking", {}, "needs an isolated run"],
])("%s with %j is refused with the reason", async (name, given, message) => {
  await expect(get(await open(), name, given)).rejects.toThrow(message);
});

test("where skills are run, the prompt of one that needs it asks the model to use the tool", async () => {
  const client = await open({ run: {} });
  expect(await get(client, "forking", { arguments: "the bridge" })).toBe(
    "Call the tool `use_skill` for the skill `forking`, with the task as its `message` and these `arguments`: the bridge",
  );
});
