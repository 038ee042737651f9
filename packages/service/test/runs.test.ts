/** Runs over HTTP: started once, read, listed, cancelled; their files. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openService } from "./support/open-service.ts";

test("a run is started, runs to its end, and its result is read", async () => {
  const service = await openService();
  const started = await service.call("POST", "/v1/runs", { body: { skill: "greet", message: "say 2" } });
  expect(started.status).toBe(201);
  expect(started.body).toEqual({ id: expect.any(String), status: "queued" });
  const run = await service.settle(String(started.body.id), "completed");
  expect(run).toMatchObject({
    id: started.body.id,
    status: "completed",
    skill: "greet",
    usage: { totalTokens: 15 },
  });
  const listed = await service.call("GET", "/v1/runs?status=completed&limit=10");
  expect(listed.body.data?.map(({ id }) => id)).toEqual([started.body.id]);
});

test("the order that reaches the worker says what was asked for and who asked", async () => {
  const service = await openService();
  const key = await service.makeKey(["run", "read"], { userId: "ada" });
  const body = { skill: "greet", message: "", arguments: ["a b"], input: { n: 1 } };
  const { body: started } = await service.call("POST", "/v1/runs", { key, body });
  const run = await service.store.journal.get(String(started.id));
  const caller = { userId: "ada" };
  expect(run?.order).toEqual({ kind: "skill", ...body, approve: "every", caller, service: {} });
  expect(run?.userId).toBe("ada");
});

test("the same idempotency key gives the same run, also to two requests at once; another body is refused", async () => {
  const service = await openService();
  const headers = { "Idempotency-Key": "order-7" };
  const start = (message: string) =>
    service.call("POST", "/v1/runs", { headers, body: { skill: "greet", message } });
  const [one, two] = await Promise.all([start("say 1"), start("say 1")]);
  const three = await start("say 1");
  expect(new Set([one.body.id, two.body.id, three.body.id]).size).toBe(1);
  expect([one.status, two.status, three.status]).toEqual([201, 201, 201]);
  const other = await start("say 2");
  expect([other.status, other.body.error?.code]).toEqual([409, "idempotency_conflict"]);
  expect((await service.call("GET", "/v1/runs")).body.data).toHaveLength(1);
});

test("an unknown skill, an unknown agent and an unknown key of the body are told with what is meant", async () => {
  const service = await openService();
  const start = (body: Record<string, string>) => service.call("POST", "/v1/runs", { body });
  const skill = await start({ skill: "great" });
  expect([skill.status, skill.body.error]).toEqual([
    422,
    { code: "unknown_skill", message: "There is no skill called `great`.", hint: "Did you mean `greet`?" },
  ]);
  expect((await start({ skill: "greet", agent: "nobody" })).body.error?.code).toBe("unknown_agent");
  const mistyped = await start({ skill: "greet", mesage: "x" });
  expect(mistyped.status).toBe(422);
  expect(mistyped.body.error?.hint).toBe("Did you mean `message`?");
  expect((await service.call("GET", "/v1/runs")).body.data).toEqual([]);
});

test("`approve: allow` needs the scope to approve", async () => {
  const service = await openService();
  const body = { skill: "greet", approve: "allow" };
  const runner = await service.makeKey(["run"]);
  const refused = await service.call("POST", "/v1/runs", { key: runner, body });
  expect([refused.status, refused.body.error?.code]).toEqual([403, "scope_missing"]);
  const both = await service.makeKey(["run", "approve"]);
  expect((await service.call("POST", "/v1/runs", { key: both, body })).status).toBe(201);
});

test("a waiting run is cancelled, and an ended one says that it has ended", async () => {
  const service = await openService();
  const id = await service.start("wait");
  await service.settle(id, "waiting");
  expect((await service.call("POST", `/v1/runs/${id}/cancel`)).status).toBe(202);
  await service.settle(id, "cancelled");
  const again = await service.call("POST", `/v1/runs/${id}/cancel`);
  expect([again.status, again.body.error?.code]).toEqual([409, "run_ended"]);
});

test("a run that another one started is cancelled with that one, and says so", async () => {
  const service = await openService();
  const id = await service.start("wait");
  await service.settle(id, "waiting");
  const child = "0mi2v000-bbbbbb";
  await service.store.journal.create({ id: child, tenant: "default", parentId: id, order: {} });
  const refused = await service.call("POST", `/v1/runs/${child}/cancel`);
  expect([refused.status, refused.body.error?.code]).toEqual([409, "part_of_run"]);
  await service.call("POST", `/v1/runs/${id}/cancel`);
  await service.settle(id, "cancelled");
  expect((await service.call("GET", `/v1/runs/${child}`)).body.status).toBe("cancelled");
});

test("runs of another tenant are not there", async () => {
  const service = await openService();
  await service.store.journal.create({ id: "0mi2v000-aaaaaa", tenant: "other", order: {} });
  for (const path of ["", "/events", "/files", "/files/a.txt"]) {
    expect((await service.call("GET", `/v1/runs/0mi2v000-aaaaaa${path}`)).status).toBe(404);
  }
  expect((await service.call("POST", "/v1/runs/0mi2v000-aaaaaa/cancel")).status).toBe(404);
  expect((await service.call("GET", "/v1/runs")).body.data).toEqual([]);
});

test("files are listed and sent as attachments that no browser runs; nothing outside the work folder is", async () => {
  const service = await openService();
  const id = await service.start("");
  await service.settle(id, "completed");
  const work = join(service.folder, "work", id);
  mkdirSync(join(work, "deep"), { recursive: true });
  writeFileSync(join(work, "deep", "page ü.html"), "<script>alert(1)</script>");
  writeFileSync(join(work, "empty.txt"), "");
  writeFileSync(join(service.folder, "outside.txt"), "secret");
  symlinkSync(join(service.folder, "outside.txt"), join(work, "link.txt"));
  const listed = await service.call("GET", `/v1/runs/${id}/files`);
  expect(listed.body.data).toEqual([
    { path: "deep/page ü.html", size: 25 },
    { path: "empty.txt", size: 0 },
  ]);
  const file = await service.call("GET", `/v1/runs/${id}/files/deep/${encodeURIComponent("page ü.html")}`);
  expect([file.status, file.text]).toEqual([200, "<script>alert(1)</script>"]);
  expect(file.headers.get("content-disposition")).toMatch(/^attachment; /);
  expect(file.headers.get("content-type")).toBe("application/octet-stream");
  expect(file.headers.get("x-content-type-options")).toBe("nosniff");
  expect(file.headers.get("content-security-policy")).toContain("sandbox");
  expect((await service.call("GET", `/v1/runs/${id}/files/empty.txt`)).text).toBe("");
  for (const path of [
    "link.txt",
    "..%2F..%2Foutside.txt",
    "%2e%2e/outside.txt",
    "deep",
    "nothing",
    "a%00b",
    "%2Fetc%2Fpasswd",
  ]) {
    expect((await service.call("GET", `/v1/runs/${id}/files/${path}`)).status, path).toBe(404);
  }
});

test("no place of the server is in a run or its events", async () => {
  const service = await openService({ hiddenFolders: [["/srv/metier-home", "home"]] });
  const id = await service.start("leak\napprove bash");
  await service.settle(id, "waiting");
  const { body: approvals } = await service.call("GET", "/v1/approvals?status=pending");
  expect(approvals.data?.[0]).toMatchObject({ tool: "bash", input: { path: "./notes.txt" } });
  await service.call("POST", `/v1/approvals/${approvals.data?.[0]?.id}`, { body: { decision: "approve" } });
  const run = await service.settle(id, "completed");
  const { text } = await service.call("GET", `/v1/runs/${id}/events`);
  expect(`${JSON.stringify(run)}${text}`).not.toContain("/srv/");
  expect(text).toContain("wrote ./notes.txt with skill:greet/run.sh");
});

test("the events tell what was asked, and of what else the model was told nothing", async () => {
  const service = await openService();
  const id = await service.start("model");
  await service.settle(id, "completed");
  const { text } = await service.call("GET", `/v1/runs/${id}/events?as=list`);
  expect(text).toContain(
    '"messages":[{"role":"user","parts":[{"type":"text","text":"Read ./notes.txt with [redacted:TOKEN]"}]}]',
  );
  expect(text.match(/"messages"/g)).toHaveLength(1);
  expect(text).not.toMatch(/OLD|INSTRUCTIONS/);
});
