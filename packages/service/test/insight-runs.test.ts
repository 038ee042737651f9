/** Runs for people who look: by agent, time and cost, with what they run with; what a run started; what approvals say. */
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { openService } from "./support/open-service.ts";

const idsOf = (body: { readonly data?: readonly JsonObject[] }) => body.data?.map(({ id }) => id);

test("runs are found by agent, time and cost, and tell agent, model and trust", async () => {
  let now = Date.parse("2026-11-17T08:00:00Z");
  const service = await openService({ now: () => now });
  await service.call("POST", "/v1/agents", { body: { name: "clerk", instructions: "Be brief." } });
  const first = await service.start("say 1");
  await service.settle(first, "completed");
  const second = await service.start("wait", { agent: "clerk" });
  await service.settle(second, "waiting");
  now += 1_000;
  const list = async (query: string) => idsOf((await service.call("GET", `/v1/runs?${query}`)).body);
  expect(await list("limit=1000")).toEqual([second, first]);
  expect(await list("agent=clerk")).toEqual([second]);
  expect(await list("agent=clerk@1")).toEqual([second]);
  expect(await list("agent=cler")).toEqual([]);
  expect(await list("minCost=0.25")).toEqual([first]);
  expect(await list("minCost=0.26")).toEqual([]);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  expect(await list(`since=${tomorrow}`)).toEqual([]);
  expect(await list(`until=${tomorrow}`)).toEqual([second, first]);
  expect(await list("until=2020-01-01")).toEqual([]);
  const { body } = await service.call("GET", "/v1/runs?agent=clerk");
  expect(body.data?.[0]).toMatchObject({ agent: "clerk@1", model: "scripted" });
});

test("pages of a narrowed list follow each other without a gap or a double", async () => {
  const service = await openService();
  const runs = [];
  for (let count = 0; count < 5; count += 1) {
    const run = await service.start("say 1");
    await service.settle(run, "completed");
    runs.unshift(run);
  }
  const seen: unknown[] = [];
  let after = "";
  do {
    const { body } = await service.call("GET", `/v1/runs?minCost=0.1&limit=2${after}`);
    seen.push(...(idsOf(body) ?? []));
    after = body.next === undefined ? "" : `&after=${body.next}`;
  } while (after !== "");
  expect(seen).toEqual(runs);
});

test("a run names what it ran, byte for byte, and the runs that it started itself", async () => {
  const service = await openService();
  const parent = await service.start("wait");
  await service.settle(parent, "waiting");
  const { journal } = service.store;
  const lease = { rootId: parent, holder: "a test", term: 1_000 };
  await journal.take(lease);
  const child = { tenant: "default", skill: "helper", order: {} };
  await journal.createChild(lease, { ...child, id: `${parent}-1`, parentId: parent });
  await journal.createChild(lease, { ...child, id: `${parent}-2`, parentId: `${parent}-1` });
  const { body } = await service.call("GET", `/v1/runs/${parent}`);
  expect(body.children).toMatchObject([{ id: `${parent}-1`, skill: "helper", parent }]);
});

test("an approval names its skill and the lines that `always` would write", async () => {
  const service = await openService();
  const run = await service.start("wait");
  await service.settle(run, "waiting");
  const { journal } = service.store;
  const lease = { rootId: run, holder: "a test", term: 1_000 };
  await journal.take(lease);
  const ask = (key: string, body: JsonObject) =>
    journal.write(lease, { runId: run, questions: [{ id: `${run}-${key}`, key, kind: "approval", body }] });
  const diff = "--- /dev/null\n+++ a.txt\n@@ -0,0 +1,1 @@\n+a";
  await ask("a", {
    skill: "poet",
    tool: "write_file",
    input: {},
    rule: "asks",
    diff,
    rules: ['write_file(./"x")'],
  });
  await ask("b", { tool: "bash", input: {}, rule: "asks", rules: [] });
  const { body } = await service.call("GET", "/v1/approvals");
  expect(body.data).toMatchObject([
    { skill: "poet", diff, alwaysRule: '"write_file(./\\"x\\")" = "allow"' },
    { skill: "greet", tool: "bash" },
  ]);
  expect(body.data?.[1]).not.toHaveProperty("alwaysRule");
  expect(body.data?.[0]).not.toHaveProperty("rules");
});
