/** Approvals and questions: answered before, while and after the run waits, twice, by two people, too late: counted once. */
import type { Json } from "@metier/base/json";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { openService } from "./support/open-service.ts";

test("an approval waits, is listed, approved with an edited input, and the run goes on with it", async () => {
  const service = await openService();
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  const listed = await service.call("GET", "/v1/approvals?status=pending");
  expect(listed.body.data).toHaveLength(1);
  const [approval] = listed.body.data ?? [];
  expect(approval).toMatchObject({
    run: id,
    tool: "bash",
    input: { path: "./notes.txt" },
    status: "pending",
  });
  const body = { decision: "approve", note: "go on", input: { path: "other.txt" } };
  const answered = await service.call("POST", `/v1/approvals/${approval?.id}`, { body });
  expect([answered.status, answered.body.status]).toEqual([200, "approved"]);
  const run = await service.settle(id, "completed");
  expect(run.text).toBe(`approved ${JSON.stringify({ note: "go on", input: { path: "other.txt" } })}`);
  expect((await service.call("GET", `/v1/approvals/${approval?.id}`)).body).toMatchObject({
    status: "approved",
  });
  expect((await service.call("GET", "/v1/approvals?status=pending")).body.data).toEqual([]);
});

test("of two people who answer at once one counts, and the other is told who was first", async () => {
  const service = await openService();
  const ada = await service.makeKey(["approve"], { userId: "ada" });
  const bob = await service.makeKey(["approve"], { userId: "bob" });
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  const answer = (key: string, decision: string) =>
    service.call("POST", `/v1/approvals/q-${id}-line-0`, { key, body: { decision } });
  const replies = await Promise.all([answer(ada, "approve"), answer(bob, "deny")]);
  const [late] = replies.filter(({ status }) => status === 409);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const first = replies[0]?.status === 200 ? "ada" : "bob";
  expect(late?.body.error).toMatchObject({
    code: "already_answered",
    message: expect.stringContaining(`by ${first}`),
  });
  await service.settle(id, "completed");
  const after = await answer(ada, "deny");
  expect([after.status, after.body.error?.code]).toEqual([409, "already_answered"]);
});

test("an approval that expired is told so, and the run goes on without it", async () => {
  const service = await openService({ script: { expireAfterMs: 100 } });
  const id = await service.start("approve bash");
  const run = await service.settle(id, "completed");
  expect(run.text).toBe("expired null");
  const late = await service.call("POST", `/v1/approvals/q-${id}-line-0`, { body: { decision: "approve" } });
  expect([late.status, late.body.error?.code]).toEqual([410, "expired"]);
});

test("an approval of a cancelled run is told so", async () => {
  const service = await openService();
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  await service.call("POST", `/v1/runs/${id}/cancel`);
  await service.settle(id, "cancelled");
  const late = await service.call("POST", `/v1/approvals/q-${id}-line-0`, { body: { decision: "approve" } });
  expect([late.status, late.body.error?.code]).toEqual([409, "run_cancelled"]);
});

test("an answer whose wake-up was lost with its process wakes the run at the next start", async () => {
  const folder = temporaryFolder();
  const before = await openService({ folder });
  const id = await before.start("approve bash\napprove write");
  await before.settle(id, "waiting");
  // As a process does that is killed between the row and the wake-up.
  await before.store.journal.answer(`q-${id}-line-0`, { status: "approved", by: "ada" });
  await before.stop();
  const after = await openService({ folder });
  for (;;) {
    const { body } = await after.call("GET", "/v1/approvals?status=pending");
    if (body.data?.[0]?.tool === "write") break;
  }
  const denied = await after.call("POST", `/v1/approvals/q-${id}-line-1`, {
    body: { decision: "deny", note: "no" },
  });
  expect(denied.body.status).toBe("denied");
  expect((await after.settle(id, "completed")).text).toBe('approved null; denied {"note":"no"}');
});

test("who may run may not approve; a denial has no input; what is asked must be there", async () => {
  const service = await openService();
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  const path = `/v1/approvals/q-${id}-line-0`;
  const runner = await service.makeKey(["run", "read", "write"]);
  expect((await service.call("POST", path, { key: runner, body: { decision: "approve" } })).status).toBe(403);
  expect((await service.call("POST", path, { body: { decision: "deny", input: {} } })).status).toBe(422);
  expect((await service.call("POST", path, { body: { decision: "maybe" } })).status).toBe(422);
  expect((await service.call("POST", "/v1/approvals/nothing", { body: { decision: "deny" } })).status).toBe(
    404,
  );
  expect((await service.call("GET", path)).body.status).toBe("pending");
});

test("a question of a run is listed apart from approvals, and its answer reaches the run", async () => {
  const service = await openService();
  const id = await service.start("ask Which color?");
  await service.settle(id, "waiting");
  expect((await service.call("GET", "/v1/approvals?status=pending")).body.data).toEqual([]);
  const listed = await service.call("GET", "/v1/questions?status=pending");
  expect(listed.body.data).toMatchObject([{ run: id, question: "Which color?" }]);
  const path = `/v1/questions/${listed.body.data?.[0]?.id}`;
  expect((await service.call("POST", path, { body: { answer: "blue" } })).status).toBe(200);
  expect((await service.call("POST", path, { body: { answer: "red" } })).status).toBe(409);
  expect((await service.settle(id, "completed")).text).toBe('answered "blue"');
});

function nest(levels: number): Json {
  let value: Json = "the end";
  for (let level = 0; level < levels; level += 1) value = { deeper: value };
  return value;
}

test("an input of many levels is shown whole, and approved as it is", async () => {
  const service = await openService({ script: { input: nest(100) } });
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  const { body } = await service.call("GET", `/v1/approvals/q-${id}-line-0`);
  expect(body.input).toEqual(nest(100));
  expect(body).not.toHaveProperty("isCut");
  const answered = await service.call("POST", `/v1/approvals/q-${id}-line-0`, {
    body: { decision: "approve" },
  });
  expect(answered.status).toBe(200);
});

test.each([
  ["too deep", nest(300)],
  ["too large", { text: "x".repeat(300_000) }],
])("an input that is %s to be shown is approved only with an input of one's own", async (_what, input) => {
  const service = await openService({ script: { input } });
  const id = await service.start("approve bash\napprove bash");
  await service.settle(id, "waiting");
  const path = `/v1/approvals/q-${id}-line-0`;
  const { body } = await service.call("GET", path);
  expect(body.isCut).toBe(true);
  expect(JSON.stringify(body.input)).toMatch(/nested too deeply|of 300011 characters/);
  const refused = await service.call("POST", path, { body: { decision: "approve", note: "fine" } });
  expect([refused.status, refused.body.error?.code]).toEqual([409, "input_not_shown"]);
  expect((await service.call("GET", path)).body.status).toBe("pending");
  const edited = await service.call("POST", path, { body: { decision: "approve", input: { text: "x" } } });
  expect(edited.status).toBe(200);
  const second = `/v1/approvals/q-${id}-line-1`;
  await expect.poll(async () => (await service.call("GET", second)).status).toBe(200);
  expect((await service.call("POST", second, { body: { decision: "deny" } })).status).toBe(200);
});

const SKILL = "/srv/metier-home/skills/greet";
const INPUT = { command: `sh ${SKILL}/run.sh /srv/metier-home/x`, note: "a", token: "[redacted:TOKEN]" };
const HIDDEN = { hiddenFolders: [["/srv/metier-home", "~"]] } as const;

test("an edited input runs with the folders that its unchanged texts stand for, never with what stands for them", async () => {
  const service = await openService({ ...HIDDEN, script: { input: INPUT } });
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  const path = `/v1/approvals/q-${id}-line-0`;
  const { command } = (await service.call("GET", path)).body.input as { readonly command: string };
  expect(command).toBe("sh skill:greet/run.sh ~/x");
  const approve = (input: Json) => service.call("POST", path, { body: { decision: "approve", input } });
  for (const input of [{ command: "cat skill:greet/a" }, { command: "ls ~/x" }, { token: INPUT.token }]) {
    const refused = await approve(input);
    expect([refused.status, refused.body.error?.message]).toEqual([
      422,
      expect.stringContaining("placeholder"),
    ]);
  }
  expect((await approve({ command, note: "b" })).status).toBe(200);
  const kept = await service.store.journal.question(`q-${id}-line-0`);
  expect(kept?.answer).toEqual({ input: { command: INPUT.command, note: "b" } });
});

test("one person over their own home is shown the exact input", async () => {
  const service = await openService({ ...HIDDEN, script: { input: INPUT }, person: { caller: {} } });
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  expect((await service.call("GET", `/v1/approvals/q-${id}-line-0`)).body.input).toEqual(INPUT);
});
