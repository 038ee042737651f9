/** Whom a turn of a session is for, and who may send one. */
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { openService, type TestService } from "./support/open-service.ts";

async function openSession(service: TestService, key: string): Promise<string> {
  const { body } = await service.call("POST", "/v1/sessions", { key, body: { skill: "greet" } });
  return String(body.id);
}

async function userOf(service: TestService, { run }: JsonObject): Promise<string | undefined> {
  return (await service.store.journal.get(String(run)))?.userId;
}

test("a turn is for the session's user; another user's key may not send one, an admin's may", async () => {
  const service = await openService();
  const [ada, bob, nobody] = await Promise.all([
    service.makeKey(["run", "read"], { userId: "ada" }),
    service.makeKey(["run", "read", "approve"], { userId: "bob" }),
    service.makeKey(["run", "read"]),
  ]);
  const session = await openSession(service, ada);
  const path = `/v1/sessions/${session}/messages`;
  const send = (key?: string) =>
    service.call("POST", path, { body: { message: "say 1" }, ...(key !== undefined && { key }) });
  for (const key of [bob, nobody]) {
    const refused = await send(key);
    expect([refused.status, refused.body.error?.code]).toEqual([403, "other_user"]);
  }
  expect((await service.call("GET", path)).body.data).toEqual([]);
  for (const key of [ada, undefined]) {
    const sent = await send(key);
    expect([sent.status, await userOf(service, sent.body)]).toEqual([201, "ada"]);
    await service.settle(String(sent.body.run), "completed");
  }
});

test("a session of nobody in particular is for nobody, whoever sends to it", async () => {
  const service = await openService();
  const [ada, nobody] = [await service.makeKey(["run"], { userId: "ada" }), await service.makeKey(["run"])];
  const session = await openSession(service, nobody);
  const sent = await service.call("POST", `/v1/sessions/${session}/messages`, {
    key: ada,
    body: { message: "say 1" },
  });
  expect([sent.status, await userOf(service, sent.body)]).toEqual([201, undefined]);
});

test("a turn that a kill cut off is finished for the session's user, unless its key was revoked since", async () => {
  const folder = temporaryFolder();
  const before = await openService({ folder });
  const ada = await before.makeKey(["run"], { userId: "ada" });
  const revoked = await before.makeKey(["run"], { userId: "ada" });
  const sessions: string[] = [];
  for (const [number, key] of [ada, revoked].entries()) {
    const id = await openSession(before, ada);
    sessions.push(id);
    const turn = { runId: `0mi2v000-cccc${number}c`, message: "say 1", by: key.split("_")[1] ?? "" };
    await before.store.records.put({ tenant: "default", kind: `turn/${id}`, id: "000001" }, turn, 0);
  }
  await before.call("DELETE", `/v1/keys/${revoked.split("_")[1]}`);
  await before.stop();
  const after = await openService({ folder });
  await after.settle("0mi2v000-cccc0c", "completed");
  expect(await userOf(after, { run: "0mi2v000-cccc0c" })).toBe("ada");
  await expect
    .poll(async () => (await after.call("GET", `/v1/sessions/${sessions[1]}/messages`)).body.data)
    .toEqual([]);
  const { body } = await after.call("GET", "/v1/audit");
  const started = body.data?.filter(({ action }) => action === "run.started");
  expect(started?.map(({ actor }) => actor)).toEqual([ada.split("_")[1]]);
});
