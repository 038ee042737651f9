/** Skills, agents, sessions, schedules, secrets, usage and audit over HTTP. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { canonicalText, type JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { tarOf, zipOf } from "../../../test/support/archives.ts";
import { skillText, temporaryFolder } from "../../../test/support/temporary.ts";
import { openService } from "./support/open-service.ts";

const SKILL = skillText("name: poet\ndescription: Writes a poem about anything.");
const asTar = (text: string) => gzipSync(tarOf({ name: "poet/SKILL.md", content: text }));

test("a skill is uploaded as zip or tar.gz, is untrusted until granted, and runs pin its version", async () => {
  const service = await openService();
  const first = await service.call("POST", "/v1/skills", { body: asTar(SKILL) });
  expect([first.status, first.body.name, first.body.trust]).toEqual([201, "poet", "untrusted"]);
  const again = await service.call("POST", "/v1/skills", {
    body: zipOf([{ name: "poet/SKILL.md", content: SKILL }]),
  });
  expect(again.body.digest).toBe(first.body.digest);
  const listed = await service.call("GET", "/v1/skills");
  expect(listed.body.data?.map(({ name, trust, source }) => [name, trust, source])).toEqual([
    ["greet", "trusted", "server"],
    ["poet", "untrusted", "upload"],
  ]);
  const writer = await service.makeKey(["read", "run", "approve", "write"]);
  const grant = `/v1/skills/poet/versions/${first.body.digest}/grant`;
  expect((await service.call("POST", grant, { key: writer })).status).toBe(403);
  expect((await service.call("POST", grant)).body).toMatchObject({
    trust: "trusted",
    grantedBy: "environment",
  });
  const second = await service.call("POST", "/v1/skills", { body: asTar(`${SKILL}\nMore.\n`) });
  const versions = await service.call("GET", "/v1/skills/poet/versions");
  expect(versions.body.data?.map(({ digest, trust }) => [digest, trust])).toEqual([
    [second.body.digest, "untrusted"],
    [first.body.digest, "trusted"],
  ]);
  const { body: run } = await service.call("POST", "/v1/runs", { body: { skill: "poet" } });
  expect((await service.store.journal.get(String(run.id)))?.order.service).toEqual({
    skillVersion: first.body.digest,
  });
  expect((await service.call("DELETE", `/v1/skills/poet/versions/${second.body.digest}`)).status).toBe(200);
  expect((await service.call("DELETE", `/v1/skills/poet/versions/${second.body.digest}`)).status).toBe(404);
});

test.each([
  ["what is no archive", Buffer.from("hello"), 422, "archive_refused"],
  ["nothing", Buffer.alloc(0), 422, "archive_refused"],
  ["a path that leads out", gzipSync(tarOf({ name: "../../evil.md", content: "x" })), 422, "archive_refused"],
  [
    "a link that leads out",
    gzipSync(tarOf({ name: "poet/l", type: "2", target: "/etc/passwd" })),
    422,
    "archive_refused",
  ],
  [
    "a bomb",
    gzipSync(tarOf({ name: "poet/zeros", content: Buffer.alloc(30_000_000) })),
    413,
    "archive_refused",
  ],
  ["no skill", gzipSync(tarOf({ name: "poet/README.md", content: "x" })), 422, "no_skill"],
  ["a skill that cannot be used", asTar("---\nname: poet\n---\n"), 422, "skill_invalid"],
  [
    "the name of a skill of the server",
    asTar(skillText("name: greet\ndescription: Says hello.")),
    409,
    "skill_taken",
  ],
])("an upload of %s is refused, and nothing of it stays", async (_what, body, status, code) => {
  const service = await openService();
  const reply = await service.call("POST", "/v1/skills", { body });
  expect([reply.status, reply.body.error?.code]).toEqual([status, code]);
  expect(JSON.stringify(reply.body)).not.toContain(service.folder);
  expect(readdirSync(join(service.folder, "shelf", ".quarantine"))).toEqual([]);
  expect(readdirSync(join(service.folder, "shelf"))).toEqual([".quarantine"]);
  expect(existsSync(join(service.folder, "..", "evil.md"))).toBe(false);
});

test("an agent has versions that never change, and a run keeps the one it started with", async () => {
  const service = await openService();
  const agent = { name: "editor", instructions: "Be short.", model: "fast" };
  expect((await service.call("POST", "/v1/agents", { body: agent })).body.version).toBe(1);
  expect((await service.call("POST", "/v1/agents", { body: agent })).status).toBe(409);
  const id = await service.start("", { agent: "editor" });
  const changed = await service.call("POST", "/v1/agents/editor/versions", {
    body: { instructions: "Be long." },
  });
  expect(changed.body.version).toBe(2);
  expect((await service.call("GET", "/v1/agents/editor@1")).body.definition).toMatchObject({ model: "fast" });
  expect((await service.call("GET", "/v1/agents/editor")).body.version).toBe(2);
  expect((await service.call("GET", "/v1/agents/editor/versions")).body.data).toHaveLength(2);
  expect((await service.store.journal.get(id))?.order).toMatchObject({
    model: "fast",
    context: "Be short.",
    service: { agent: "editor@1" },
  });
  expect((await service.call("DELETE", "/v1/agents/editor")).status).toBe(200);
  expect((await service.call("GET", "/v1/agents/editor")).status).toBe(404);
  expect((await service.call("POST", "/v1/agents", { body: agent })).body.version).toBe(3);
});

test("a session takes one message at a time, and the next run knows what was said", async () => {
  const service = await openService();
  const { body: session } = await service.call("POST", "/v1/sessions", {
    body: { skill: "greet", title: "Colors" },
  });
  const post = (message: string) =>
    service.call("POST", `/v1/sessions/${session.id}/messages`, { body: { message } });
  const [one, two] = await Promise.all([post("approve bash"), post("approve bash")]);
  expect([one.status, two.status].toSorted()).toEqual([201, 409]);
  const first = one.status === 201 ? one : two;
  const busy = await post("say 1");
  expect([busy.status, busy.body.error?.code]).toEqual([409, "session_busy"]);
  await service.settle(String(first.body.run), "waiting");
  await service.call("POST", `/v1/approvals/q-${first.body.run}-line-0`, { body: { decision: "deny" } });
  await service.settle(String(first.body.run), "completed");
  const second = await post("say 1");
  expect(second.body.turn).toBe(2);
  expect((await service.store.journal.get(String(second.body.run)))?.order).toMatchObject({
    caller: { sessionId: session.id },
    context: "Earlier in this conversation:\n\nUser: approve bash\n\nAssistant: denied {}",
  });
  await service.settle(String(second.body.run), "completed");
  const { body } = await service.call("GET", `/v1/sessions/${session.id}/messages`);
  expect(body.data?.map(({ message, status }) => [message, status])).toEqual([
    ["approve bash", "completed"],
    ["say 1", "completed"],
  ]);
  expect((await service.call("GET", `/v1/sessions/${session.id}`)).body.turns).toBe(2);
});

test("a session with an agent is one conversation: each turn names the one before that was whole", async () => {
  const service = await openService();
  const agent = { name: "host", instructions: "Be kind.", limits: { maxTokens: 1_000 } };
  await service.call("POST", "/v1/agents", { body: agent });
  const { body: session } = await service.call("POST", "/v1/sessions", { body: { agent: "host" } });
  const post = async (message: string): Promise<string> => {
    const { body } = await service.call("POST", `/v1/sessions/${session.id}/messages`, { body: { message } });
    return String(body.run);
  };
  const first = await post("say 1");
  await service.settle(first, "completed");
  const second = await post("wait");
  await service.settle(second, "waiting");
  await service.call("POST", `/v1/runs/${second}/cancel`);
  await service.settle(second, "cancelled");
  const third = await post("say 1");
  const orderOf = async (id: string) => (await service.store.journal.get(id))?.order;
  const shared = { kind: "turn", instructions: "Be kind.", limits: { maxTokens: 1_000 }, approve: "every" };
  expect(await orderOf(first)).toMatchObject(shared);
  expect(await orderOf(first)).not.toHaveProperty("previous");
  expect(await orderOf(third)).toMatchObject({ ...shared, previous: first });
});

test("an agent that is limited to skills runs those alone", async () => {
  const service = await openService();
  await service.call("POST", "/v1/agents", { body: { name: "one", instructions: "x", skills: ["other"] } });
  const refused = await service.call("POST", "/v1/runs", { body: { skill: "greet", agent: "one" } });
  expect([refused.status, refused.body.error?.code]).toEqual([422, "skill_not_allowed"]);
  const { body: session } = await service.call("POST", "/v1/sessions", {
    body: { skill: "greet", agent: "one" },
  });
  const path = `/v1/sessions/${session.id}/messages`;
  expect((await service.call("POST", path, { body: { message: "x" } })).body.error?.code).toBe(
    "skill_not_allowed",
  );
  expect((await service.call("GET", path)).body.data).toEqual([]);
});

test("a message whose run was not written before a kill gets its run at the next start", async () => {
  const folder = temporaryFolder();
  const before = await openService({ folder });
  const { body: session } = await before.call("POST", "/v1/sessions", { body: { skill: "greet" } });
  const key = { tenant: "default", kind: `turn/${session.id}`, id: "000001" };
  await before.store.records.put(key, { runId: "0mi2v000-bbbbbb", message: "say 1" }, 0);
  await before.stop();
  const after = await openService({ folder });
  for (;;) {
    const { body } = await after.call("GET", `/v1/sessions/${session.id}/messages`);
    if (body.data?.[0]?.status === "completed") break;
  }
});

test("each due time of a schedule starts exactly one run, also over restarts", async () => {
  const folder = temporaryFolder();
  let now = Date.parse("2026-11-17T05:59:00Z");
  const open = () => openService({ folder, now: () => now });
  let service = await open();
  const body = {
    name: "morning",
    cron: "0 7 * * *",
    timeZone: "Europe/Berlin",
    run: { skill: "greet", message: "" },
  };
  const { body: made } = await service.call("POST", "/v1/schedules", { body });
  expect(made).toMatchObject({ nextAt: "2026-11-17T06:00:00.000Z", catchUp: "one" });
  now = Date.parse("2026-11-17T06:00:10Z");
  const fired = async (): Promise<number> => (await service.call("GET", "/v1/runs")).body.data?.length ?? 0;
  while ((await fired()) < 1) await new Promise((resolve) => setTimeout(resolve, 10));
  // As if the process had been killed after it started the run and before it wrote the next due time.
  const [record] = await service.store.records.listAll("schedule");
  if (record === undefined) throw new Error("There is no schedule.");
  await service.stop();
  service = await open();
  const due = { ...record.body, nextAt: Date.parse("2026-11-17T06:00:00Z") };
  const latest = await service.store.records.get(record);
  await service.store.records.put(record, due, latest?.revision ?? 0);
  for (;;) {
    const { body: shown } = await service.call("GET", `/v1/schedules/${made.id}`);
    if (shown.nextAt === "2026-11-18T06:00:00.000Z") break;
  }
  expect(await fired()).toBe(1);
  now = Date.parse("2026-11-21T12:00:00Z");
  while ((await fired()) < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  let late: JsonObject = {};
  while (late.nextAt !== "2026-11-22T06:00:00.000Z") {
    late = (await service.call("GET", `/v1/schedules/${made.id}`)).body;
  }
  const { body: audit } = await service.call("GET", "/v1/audit");
  expect(audit.data?.filter(({ actor }) => actor === made.id)).toMatchObject([
    { action: "run.started" },
    { action: "run.started" },
  ]);
  expect(late.lastAt).toBe("2026-11-21T06:00:00.000Z");
});

test.each([
  ["all", 4],
  ["skip", 0],
])("missed due times are caught up by the policy: %s", async (catchUp, count) => {
  let now = Date.parse("2026-11-17T00:30:00Z");
  const service = await openService({ now: () => now });
  const body = { name: "hourly", cron: "0 * * * *", catchUp, run: { skill: "greet", message: "" } };
  const { body: made } = await service.call("POST", "/v1/schedules", { body });
  now = Date.parse("2026-11-17T04:30:00Z");
  for (;;) {
    const { body: shown } = await service.call("GET", `/v1/schedules/${made.id}`);
    if (shown.nextAt === "2026-11-17T05:00:00.000Z") break;
  }
  expect((await service.call("GET", "/v1/runs")).body.data).toHaveLength(count);
});

test("a paused schedule starts nothing; a cron line that cannot be used is refused with the reason", async () => {
  let now = Date.parse("2026-11-17T00:30:00Z");
  const service = await openService({ now: () => now });
  const make = (more: JsonObject) =>
    service.call("POST", "/v1/schedules", {
      body: { name: "x", cron: "0 * * * *", run: { skill: "greet" }, ...more },
    });
  const { body: made } = await make({});
  expect(
    (await service.call("PUT", `/v1/schedules/${made.id}`, { body: { isPaused: true } })).body.isPaused,
  ).toBe(true);
  now += 3_600_000;
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await service.call("GET", "/v1/runs")).body.data).toEqual([]);
  expect((await service.call("DELETE", `/v1/schedules/${made.id}`)).status).toBe(200);
  for (const wrong of [
    { cron: "every day" },
    { cron: "* * * * * *" },
    { cron: "0 0 31 2 *" },
    { timeZone: "Mars/Base" },
  ]) {
    expect((await make(wrong)).status, JSON.stringify(wrong)).toBe(422);
  }
  const writer = await service.makeKey(["write"]);
  const allowing = { name: "x", cron: "0 * * * *", run: { skill: "greet", approve: "allow" } };
  expect((await service.call("POST", "/v1/schedules", { key: writer, body: allowing })).status).toBe(403);
});

test("a secret is written and never read: it is in no answer, log, audit line or table", async () => {
  const service = await openService();
  const value = "hunter2-hunter2-hunter2";
  const written = await service.call("PUT", "/v1/secrets/TOKEN", { body: { value } });
  expect(written.body).toEqual({ name: "TOKEN", updatedAt: expect.any(String) });
  const texts = [
    written.text,
    (await service.call("GET", "/v1/secrets")).text,
    (await service.call("GET", "/v1/audit")).text,
    (await service.call("GET", "/metrics")).text,
    JSON.stringify(await service.store.records.listAll("secret")),
    service.log.join("\n"),
  ];
  const [stored] = await service.store.records.listAll("secret");
  expect(stored?.body.sealed).toMatch(/^metier1\./);
  expect((await service.call("GET", "/v1/secrets/TOKEN")).status).toBe(405);
  expect((await service.call("DELETE", "/v1/secrets/TOKEN")).status).toBe(200);
  expect((await service.call("DELETE", "/v1/secrets/TOKEN")).status).toBe(404);
  await service.stop();
  texts.push(readFileSync(join(service.folder, "state", "metier.db"), "latin1"));
  expect(texts.filter((text) => text.includes(value))).toEqual([]);
});

test("usage is summed by day, skill and user", async () => {
  const service = await openService();
  const ada = await service.makeKey(["run"], { userId: "ada" });
  const ids = await Promise.all([service.start(""), service.start("")]);
  const { body: own } = await service.call("POST", "/v1/runs", { key: ada, body: { skill: "greet" } });
  for (const id of [...ids, String(own.id)]) await service.settle(id, "completed");
  const { body } = await service.call("GET", "/v1/usage?by=skill");
  expect(body.data).toMatchObject([
    { key: "greet", runs: 3, totalTokens: 45, cost: 0.75, runsWithoutCost: 0 },
  ]);
  const byUser = await service.call("GET", "/v1/usage?by=user");
  expect(byUser.body.data?.map(({ key, runs }) => [key, runs])).toEqual([
    ["", 2],
    ["ada", 1],
  ]);
  const today = new Date().toISOString().slice(0, 10);
  expect((await service.call("GET", "/v1/usage")).body.data).toMatchObject([{ key: today, runs: 3 }]);
  expect((await service.call("GET", "/v1/usage?to=2020-01-01")).body.data).toEqual([]);
});

test("every change and every answer is a line of the audit log, and the lines are a chain", async () => {
  const service = await openService();
  const id = await service.start("approve bash");
  await service.settle(id, "waiting");
  await service.call("POST", `/v1/approvals/q-${id}-line-0`, { body: { decision: "approve", input: {} } });
  await service.call("PUT", "/v1/secrets/TOKEN", { body: { value: "x" } });
  const { body } = await service.call("GET", "/v1/audit");
  expect(body.data?.map(({ action, subject, actor }) => [action, subject, actor])).toEqual([
    ["run.started", id, "environment"],
    ["approval.approved", `q-${id}-line-0`, "environment"],
    ["secret.created", "TOKEN", "environment"],
  ]);
  let previous = "0".repeat(64);
  for (const line of body.data ?? []) {
    expect(line.previous).toBe(previous);
    const { digest, ...rest } = line;
    const sealed = { ...rest, tenant: "default", at: Date.parse(String(line.at)) };
    previous = createHash("sha256").update(canonicalText(sealed)).digest("hex");
    expect(digest).toBe(previous);
  }
});
