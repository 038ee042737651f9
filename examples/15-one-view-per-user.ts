/**
 * One program, many users: a view for each request, with the user's folder, key and skills. Nothing of one user
 * reaches another, and tools know who asks. The model is scripted, so this needs no key.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetier, createScriptedModel, defineTool, type MetierView } from "metier";

const orders = defineTool({
  name: "orders",
  description: "Lists the orders of the customer who asks.",
  input: { type: "object", properties: {} },
  effect: "read",
  execute: (_input, { caller }) => [`order of ${caller.userId} at ${caller.tenantId}`],
});
const root = mkdtempSync(join(tmpdir(), "metier-example-"));
const metier = await createMetier({ home: root, tools: [orders], autoDiscover: false });
for (const name of ["report", "payroll"]) {
  await metier.register({ name, description: `Write the ${name}.`, instructions: `Write the ${name}.` });
}

/** What a server does for each request, once it knows who asks. */
function viewFor(userId: string, tenantId: string, isAdmin = false): MetierView {
  const cwd = join(root, tenantId, userId);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "notes.txt"), `notes of ${userId}`);
  const toolCalls = [
    { tool: "orders", input: {} },
    { tool: "read_file", input: { path: "notes.txt" } },
  ];
  return metier.for({
    userId,
    tenantId, // Two tenants may have users with the same name.
    cwd, // All that their runs see; without it, they see only their own work folder.
    env: { API_KEY: `key-of-${userId}` }, // For skills that declare `env: [API_KEY]`.
    ...(isAdmin ? {} : { deny: ["payroll"] }),
    limits: { maxIterations: 10, maxTotalTokens: 100_000 },
    models: { default: createScriptedModel([{ answer: { toolCalls } }, { answer: { text: "Done." } }]) },
  });
}

const views = [viewFor("ada", "acme"), viewFor("ada", "umbrella"), viewFor("bob", "acme", true)];
for (const view of views) {
  const heard: string[] = [];
  const run = view.start({ skill: "report", approve: "all" });
  for await (const event of run.events()) if (event.type === "tool-finished") heard.push(event.text);
  view.store("report").set("last", heard);
  console.log(view.tenantId, view.userId, (await run.result).text, heard, view.names());
  const told = [`["order of ${view.userId} at ${view.tenantId}"]`, `notes of ${view.userId}`];
  assert.deepEqual(heard.sort(), told);
}
const mayPay = views.filter((view) => view.has("payroll")).map(({ userId }) => userId);
assert.deepEqual(mayPay, ["bob"]);
assert.equal((await views[0]?.run({ skill: "payroll" }))?.refusal?.reason, "not-found");
assert.notDeepEqual(views[0]?.store("report").get("last"), views[1]?.store("report").get("last"));
rmSync(root, { recursive: true });
