/** Deleting users and tenants: nothing of them is left, and the audit log leads to nobody. Over any store. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@metier/base/json";
import { forAllTenants } from "@metier/durable";
import { describe, expect, test } from "vitest";
import { tarOf } from "../../../../test/support/archives.ts";
import { skillText } from "../../../../test/support/temporary.ts";
import { openBrowser } from "./browser.ts";
import { type OpenOptions, openService, type TestService } from "./open-service.ts";
import type { OpenStores } from "./start-scripted.ts";

interface DeletionStores {
  readonly name: string;
  /** Default: SQLite. */
  readonly openStores?: OpenStores;
  /** Everything that the store of a service in this folder holds beside files of the folder. */
  dump(folder: string): Promise<string>;
}

const ADA = "ada.lovelace@acme.example";

/** Everything that any file below the folder holds. */
function dumpFiles(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function untilGone(service: TestService, path: string, key?: string): Promise<void> {
  await until(async () => {
    const { status } = await service.call("DELETE", path, key === undefined ? {} : { key });
    return status === 200 || status === 404;
  });
}

/** A bit of everything that a user can have. */
async function useAs(service: TestService, key: string): Promise<{ readonly runs: readonly string[] }> {
  const post = async (path: string, body: JsonObject) =>
    (await service.call("POST", path, { key, body })).body;
  const ended = await post("/v1/runs", { skill: "greet", message: "say 2" });
  const waiting = await post("/v1/runs", { skill: "greet", message: "approve bash" });
  const held = await post("/v1/runs", { skill: "greet", message: "wait" });
  const session = await post("/v1/sessions", { skill: "greet", title: "mine" });
  const turn = await post(`/v1/sessions/${session.id}/messages`, { message: "say 1" });
  await post("/v1/schedules", { name: "daily", cron: "0 0 * * *", run: { skill: "greet" } });
  const runs = [ended.id, waiting.id, held.id, turn.run].map(String);
  await until(async () => {
    const found = await Promise.all(runs.map((id) => forAllTenants(() => service.store.journal.get(id))));
    return found.every((run) => run?.status === "waiting" || run?.status === "completed");
  });
  return { runs };
}

const find = (service: TestService, id: string) => forAllTenants(() => service.store.journal.get(id));

export function describeDeletion(stores: DeletionStores): void {
  const open = (options: OpenOptions = {}): Promise<TestService> =>
    openService({ ...(stores.openStores && { openStores: stores.openStores }), ...options });

  describe(`deletion on ${stores.name}`, () => {
    test("a user who is deleted leaves nothing behind, in no table and no file, and others keep what they have", async () => {
      const service = await open();
      const acme = await service.makeTenant("acme");
      const keyOf = async (userId: string) => {
        const body = { role: "admin", userId, name: `key of ${userId}` };
        return String((await service.call("POST", "/v1/keys", { key: acme.key, body })).body.key);
      };
      const [ada, bob] = [await keyOf(ADA), await keyOf("bob")];
      const hers = await useAs(service, ada);
      const his = await useAs(service, bob);
      // She has answered what a run of somebody else asked.
      const question = `/v1/approvals/q-${his.runs[1]}-line-0`;
      await service.call("POST", question, { key: ada, body: { decision: "approve" } });
      expect((await service.call("GET", question, { key: bob })).body.answeredBy).toContain(ADA);
      // She is named in quotas, and signed in with a browser.
      const quotas = { users: { [ADA]: { openRuns: 50 }, bob: { openRuns: 50 } } };
      expect((await service.call("PUT", "/v1/quotas", { key: acme.key, body: quotas })).status).toBe(200);
      const browser = openBrowser(service.url);
      expect((await browser.signIn(ada)).status).toBe(200);
      const audit = async (query = "") =>
        (await service.call("GET", `/v1/audit?limit=100${query}`, { key: acme.key })).body.data ?? [];
      expect((await audit()).some(({ actor }) => String(actor).startsWith(ADA))).toBe(true);
      expect(JSON.stringify(await audit("&as=stored"))).not.toContain(ADA);
      const path = `/v1/users/${encodeURIComponent(ADA)}`;
      expect((await service.call("DELETE", path, { key: acme.key })).body).toEqual({
        id: ADA,
        status: "deleting",
      });
      expect((await service.call("GET", "/v1/runs", { key: ada })).status).toBe(401);
      expect((await browser.send("GET", "/v1/me")).status).toBe(401);
      await untilGone(service, path, acme.key);
      expect((await service.call("DELETE", path, { key: acme.key })).status).toBe(404);
      for (const id of hers.runs) expect(await find(service, id)).toBeUndefined();
      for (const id of his.runs) expect(await find(service, id)).toBeDefined();
      // That it is done is told after they have gone.
      await expect.poll(async () => (await audit()).map(({ action }) => action)).toContain("user.deleted");
      const told = await audit();
      expect(told.filter(({ action }) => String(action).startsWith("user."))).toMatchObject([
        { action: "user.deleting", subject: expect.stringMatching(/^p_[0-9a-f]{16}$/) },
        { action: "user.deleted", subject: expect.stringMatching(/^p_[0-9a-f]{16}$/) },
      ]);
      expect(JSON.stringify(told)).not.toContain(ADA);
      expect(told.some(({ actor }) => String(actor).startsWith("bob"))).toBe(true);
      expect(service.log.join("\n")).not.toContain(ADA);
      await service.stop();
      const left = `${dumpFiles(service.folder)}${await stores.dump(service.folder)}`;
      expect(left).not.toContain(ADA);
      expect(left).toContain("bob");
    }, 60_000);

    test("a tenant that is deleted stops acting at once and is gone with everything, its name free again", async () => {
      const service = await open();
      const acme = await service.makeTenant("acme");
      const other = await service.makeTenant("other");
      const canary = "a-word-of-acme-alone";
      for (const { key } of [acme, other]) {
        const mark = key === acme.key ? canary : "of-other";
        const put = (method: string, path: string, body: JsonObject | Buffer) =>
          service.call(method, path, { key, body });
        await put("PUT", "/v1/secrets/TOKEN", { value: mark });
        await put("POST", "/v1/agents", { name: "writer", instructions: `Write about ${mark}.` });
        const content = skillText(`name: poet\ndescription: Writes about ${mark}.`);
        expect(
          (await put("POST", "/v1/skills", gzipSync(tarOf({ name: "poet/SKILL.md", content })))).status,
        ).toBe(201);
        await useAs(service, key);
        await put("POST", "/v1/runs", { skill: "greet", message: mark });
      }
      const stream = await fetch(`${service.url}/v1/changes`, {
        headers: { authorization: `Bearer ${acme.key}` },
      });
      const ended = stream.text();
      const deleted = await service.call("DELETE", "/v1/tenants/acme");
      expect([deleted.status, deleted.body.status]).toEqual([202, "deleting"]);
      const { status, body } = await service.call("GET", "/v1/runs", { key: acme.key });
      expect([status, body.error?.code]).toEqual([401, "key_revoked"]);
      const late = await service.call("POST", "/v1/keys", { body: { tenant: acme.id, role: "viewer" } });
      expect([late.status, late.body.error?.code]).toEqual([409, "tenant_deleting"]);
      expect((await service.call("POST", "/v1/tenants", { body: { name: "acme" } })).status).toBe(409);
      await ended;
      await untilGone(service, `/v1/tenants/${acme.id}`);
      expect((await service.call("GET", `/v1/tenants/${acme.id}`)).status).toBe(404);
      expect(await forAllTenants(() => service.store.journal.list({ tenant: acme.id, limit: 10 }))).toEqual(
        [],
      );
      expect((await service.call("GET", "/v1/runs", { key: acme.key })).body.error?.code).toBe("key_unknown");
      expect((await service.call("GET", "/v1/runs", { key: other.key })).body.data).toHaveLength(5);
      const again = await service.makeTenant("acme");
      expect(again.id).not.toBe(acme.id);
      expect((await service.call("GET", "/v1/secrets", { key: again.key })).body.data).toEqual([]);
      const actions = async () => {
        const { body: log } = await service.call("GET", "/v1/audit?limit=100");
        return log.data?.filter(({ subject }) => subject === acme.id).map(({ action }) => action);
      };
      await expect.poll(actions).toEqual(["tenant.created", "tenant.deleting", "tenant.deleted"]);
      await service.stop();
      const left = `${dumpFiles(service.folder)}${await stores.dump(service.folder)}`;
      expect(left).not.toContain(canary);
      expect(left).toContain("of-other");
    }, 60_000);

    test("a deletion that a kill cut off goes on when the service starts again", async () => {
      const first = await open({ times: { sweepMs: 3_600_000 } });
      const acme = await first.makeTenant("acme");
      await useAs(first, acme.key);
      expect((await first.call("DELETE", "/v1/tenants/acme")).status).toBe(202);
      await first.stop();
      const second = await open({ folder: first.folder });
      await until(async () => (await second.call("GET", "/v1/tenants/acme")).status === 404);
      expect(await forAllTenants(() => second.store.journal.list({ tenant: acme.id, limit: 10 }))).toEqual(
        [],
      );
    }, 60_000);

    test("a user of another tenant, and one who never was, are not there", async () => {
      const service = await open();
      const acme = await service.makeTenant("acme");
      await service.makeKey(["read"], { userId: "ada" });
      for (const user of ["ada", "nobody", "a%7Cb", "..%2F..", "%00"]) {
        const { status } = await service.call("DELETE", `/v1/users/${user}`, { key: acme.key });
        expect([user, status]).toEqual([user, 404]);
      }
      expect((await service.call("GET", "/v1/keys")).body.data?.map(({ userId }) => userId)).toEqual(["ada"]);
    });
  });
}
