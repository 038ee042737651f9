import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MutationPlan } from "@metier/capabilities";
import { expect, test } from "vitest";
import { createMemoProvider } from "../../../../test/support/memo-provider.ts";
import { QUIET_PATH } from "../../../../test/support/notes-bridge.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld } from "../../../../test/support/world.ts";

const CALLER = { userId: "u1", chatType: "private" };
const environment = { PATH: QUIET_PATH };
const ADD = { capability: "memo.notes", operation: "add", input: { text: "tea" } };

verifies(177, "a provider of the embedding program is used through the same broker", async () => {
  const world = createWorld({ environment });
  const { provider, calls } = createMemoProvider();
  const { capabilities } = await world.metier({ capabilities: { providers: [provider] } });
  expect(calls).toEqual([]);
  const listed = await capabilities.list(CALLER);
  expect(listed.ok && listed.value.map(({ id }) => id)).toEqual([
    "memo.account",
    "memo.diary",
    "memo.notes",
    "memo.other",
  ]);
  expect(await capabilities.providers()).toMatchObject([
    { name: "memo", kind: "in-process", origin: "program" },
  ]);
  const read = await capabilities.invoke({ capability: "memo.notes", operation: "read" }, { caller: CALLER });
  expect(read).toMatchObject({ ok: true, value: { output: { notes: ["buy milk"] }, isRepeat: false } });
  expect(calls).toMatchObject([{ operation: "memo.notes read", caller: CALLER }]);
  const audit = readFileSync(join(world.home, ".metier/state/capabilities/audit.jsonl"), "utf8");
  expect(audit).toContain('"user":"u1"');
  await capabilities.close();
});

test("a change is done only where the program, or the call, says yes to exactly that", async () => {
  const world = createWorld({ environment });
  const { provider, notes } = createMemoProvider();
  const plans: MutationPlan[] = [];
  const confirm = (plan: MutationPlan): "yes" | "no" => {
    plans.push(plan);
    return plan.input.text === "tea" ? "yes" : "no";
  };
  const silent = await world.metier({ capabilities: { providers: [provider] } });
  expect(await silent.capabilities.invoke(ADD, { caller: CALLER })).toMatchObject({
    ok: false,
    fault: { code: "capability_mutation_not_confirmed" },
  });
  const asking = await world.metier({ capabilities: { providers: [provider], confirm } });
  await asking.capabilities.invoke({ ...ADD, input: { text: "sugar" } }, { caller: CALLER });
  expect(await asking.capabilities.invoke(ADD, { caller: CALLER })).toMatchObject({ ok: true });
  expect(notes).toEqual(["tea"]);
  expect(
    plans.map(({ capability, operation, caller }) => [capability, operation.name, caller.userId]),
  ).toEqual([
    ["memo.notes", "add", "u1"],
    ["memo.notes", "add", "u1"],
  ]);
});

test("a namespace of the program is the program's, whatever the config names", async () => {
  const world = createWorld({ environment });
  world.write({ "home/.metier/config.toml": '[capabilities.providers.memo]\ncommand = ["false"]\n' });
  const { provider } = createMemoProvider();
  const { capabilities } = await world.metier({ capabilities: { providers: [provider] } });
  expect(await capabilities.providers()).toMatchObject([
    { name: "memo", origin: "program", capabilities: expect.arrayContaining(["memo.notes"]) },
    { name: "memo", origin: "config", capabilities: [], fault: { code: "capability_invalid_input" } },
  ]);
});

test("a call is cancelled by its signal", async () => {
  const world = createWorld({ environment });
  const { provider, calls } = createMemoProvider();
  const { capabilities } = await world.metier({ capabilities: { providers: [provider] } });
  const stop = new AbortController();
  const waiting = capabilities.invoke(
    { capability: "memo.notes", operation: "wait" },
    { caller: CALLER, signal: stop.signal },
  );
  await expect.poll(() => calls.length).toBe(1);
  stop.abort();
  expect(await waiting).toMatchObject({ ok: false, fault: { code: "capability_cancelled" } });
});

test("what one user links is not there for another", async () => {
  const world = createWorld({ environment });
  const { provider } = createMemoProvider();
  const { capabilities } = await world.metier({ capabilities: { providers: [provider] } });
  const begun = await capabilities.auth.begin({ capability: "memo.account" }, { caller: CALLER });
  const flowId = begun.ok ? begun.value.flowId : "";
  const other = { caller: { ...CALLER, userId: "u2" } };
  expect(await capabilities.auth.complete({ flowId, code: "c" }, other)).toMatchObject({ ok: false });
  expect(await capabilities.auth.list({}, other)).toEqual({ ok: true, value: [] });
  expect(await capabilities.auth.complete({ flowId, code: "c" }, { caller: CALLER })).toMatchObject({
    ok: true,
    value: { accountRef: "acc-1" },
  });
  const use = { capability: "memo.account", operation: "read" };
  expect(await capabilities.invoke(use, { caller: CALLER })).toMatchObject({ ok: true });
  expect(await capabilities.invoke(use, other)).toMatchObject({
    ok: false,
    fault: { code: "capability_auth_required" },
  });
});
