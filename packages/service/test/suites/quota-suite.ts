/** Quotas over HTTP, on whatever store: what is refused, with which time to try again, and who may set what. */
import { gzipSync } from "node:zlib";
import { forTenant } from "@metier/durable";
import { describe, expect, test } from "vitest";
import { tarOf } from "../../../../test/support/archives.ts";
import type { HttpReply, OpenOptions, TestService } from "../support/open-service.ts";
import { addTenant } from "../support/other-tenant.ts";

const NOON = Date.parse("2026-11-17T12:00:00Z");

function codeOf({ status, body }: HttpReply): readonly [number, unknown] {
  return [status, body.error?.code];
}

export function quotaSuite(open: (options?: OpenOptions) => Promise<TestService>): void {
  const startOf = (service: TestService, key?: string, message = "wait") =>
    service.call("POST", "/v1/runs", { body: { skill: "greet", message }, ...(key && { key }) });
  const limit = (service: TestService, body: Record<string, number>, tenant = "default") =>
    service.call("PUT", `/v1/tenants/${tenant}/quotas`, { body });

  describe("who may set what", () => {
    test("a tenant's limits are the platform's, its users' are its admins', and both are read by all of it", async () => {
      const service = await open();
      const acme = await addTenant(service, "acme");
      const admin = await acme.makeKey();
      const reader = await acme.makeKey(["read"], "ada");
      expect((await limit(service, { openRuns: 5 }, "acme")).body).toMatchObject({ tenant: { openRuns: 5 } });
      const users = { ada: { openRuns: 1 }, bob: { openRuns: 3 } };
      const body = { eachUser: { openRuns: 2, concurrentRuns: 1 }, users };
      const written = await service.call("PUT", "/v1/quotas", { key: admin, body });
      expect(written.body).toMatchObject({ tenant: { openRuns: 5 }, ...body });
      const read = await service.call("GET", "/v1/quotas", { key: reader });
      expect(read.body).toMatchObject({ tenant: { openRuns: 5 }, users: { ada: { openRuns: 1 } } });
      expect(read.text).not.toContain("bob");
      expect((await service.call("GET", `/v1/tenants/${acme.id}/quotas`)).body).toEqual(written.body);
      expect((await service.call("GET", "/v1/quotas")).body.tenant).toEqual({});
    });

    test("another tenant's admin sets nothing of the platform, and a tenant that is not there is a 404", async () => {
      const service = await open();
      const key = await (await addTenant(service, "acme")).makeKey();
      const body = { openRuns: 1_000 };
      const asked = await service.call("PUT", "/v1/tenants/acme/quotas", { key, body });
      expect(codeOf(asked)).toEqual([403, "platform_only"]);
      const own = await service.call("PUT", "/v1/quotas", { key, body: { tenant: body } });
      expect(own.status).toBe(422);
      expect(codeOf(await limit(service, body, "nobody"))).toEqual([404, "not_found"]);
    });

    test("wrong values are refused, each with what is allowed", async () => {
      const service = await open();
      for (const wrong of [{ openRuns: -1 }, { startsPerMinute: 1.5 }, { concurrentRuns: 0 }, { runs: 1 }]) {
        expect((await limit(service, wrong as Record<string, number>)).status).toBe(422);
      }
      const put = (body: object) => service.call("PUT", "/v1/quotas", { body: body as never });
      expect((await put({ eachUser: { storageBytes: 1 } })).body.error?.message).toContain("storageBytes");
      expect((await put({ users: { ada: { concurrentRuns: 1 } } })).body.error?.hint).toContain("eachUser");
      expect((await put({ users: { "": {} } })).status).toBe(422);
      expect((await put({ users: { ["x".repeat(300)]: {} } })).status).toBe(422);
    });

    test("the log says that quotas were changed, and names nobody", async () => {
      const service = await open();
      await service.call("PUT", "/v1/quotas", { body: { users: { ursula: { openRuns: 1 } } } });
      const { text, body } = await service.call("GET", "/v1/audit");
      expect(body.data?.map(({ action }) => action)).toContain("quotas.changed");
      expect(text).not.toContain("ursula");
    });
  });

  describe("a run over a quota", () => {
    test("is refused with the time to try again, and counted", async () => {
      const before = Date.now();
      const service = await open();
      await limit(service, { startsPerMinute: 2 });
      const [first, second] = [await startOf(service), await startOf(service)];
      expect([first.status, second.status]).toEqual([201, 201]);
      const refused = await startOf(service);
      expect(codeOf(refused)).toEqual([429, "quota_starts_per_minute"]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Date.parse(String(refused.body.error?.retryAt))).toBeGreaterThan(before);
      const { text } = await service.call("GET", "/metrics");
      expect(text).toContain('metier_quota_refusals_total{quota="startsPerMinute"} 1');
      expect((await service.call("GET", "/v1/quotas")).body.used).toMatchObject({
        startsPerMinute: 2,
        openRuns: 2,
      });
    });

    test("of open runs has room again when one has ended", async () => {
      const service = await open();
      await limit(service, { openRuns: 1 });
      const first = await startOf(service);
      const refused = await startOf(service);
      expect(codeOf(refused)).toEqual([429, "quota_open_runs"]);
      expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
      await service.call("POST", `/v1/runs/${first.body.id}/cancel`);
      await service.settle(String(first.body.id), "cancelled");
      expect((await startOf(service)).status).toBe(201);
    });

    test("is refused for one user and not for another, nor for another tenant", async () => {
      const service = await open();
      const acme = await addTenant(service, "acme");
      const admin = await acme.makeKey();
      const skill = "---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n";
      const archive = gzipSync(tarOf({ name: "greet/SKILL.md", content: skill }));
      await service.call("POST", "/v1/skills", { key: admin, body: archive });
      const [ada, bob] = [await acme.makeKey(["run"], "ada"), await acme.makeKey(["run"], "bob")];
      await service.call("PUT", "/v1/quotas", { key: admin, body: { eachUser: { openRuns: 1 } } });
      expect((await startOf(service, ada)).status).toBe(201);
      expect(codeOf(await startOf(service, ada))).toEqual([429, "quota_open_runs"]);
      expect((await startOf(service, bob)).status).toBe(201);
      expect((await startOf(service)).status).toBe(201);
      const users = { ada: { openRuns: 5 } };
      await service.call("PUT", "/v1/quotas", { key: admin, body: { eachUser: { openRuns: 1 }, users } });
      expect((await startOf(service, ada)).status).toBe(201);
    });

    test("of tokens or cost a day is refused until the next day, and what is left bounds the run before", async () => {
      const service = await open();
      await limit(service, { tokensPerDay: 20, costPerDay: 0.4 });
      const first = await startOf(service, undefined, "");
      await service.settle(String(first.body.id), "completed");
      const second = await startOf(service, undefined, "");
      const run = await forTenant("default", () => service.store.journal.get(String(second.body.id)));
      expect(run?.order.service).toMatchObject({ left: { tokens: 5, cost: expect.closeTo(0.15) } });
      await service.settle(String(second.body.id), "completed");
      const refused = await startOf(service, undefined, "");
      expect(codeOf(refused)).toEqual([429, "quota_tokens_per_day"]);
      expect(String(refused.body.error?.retryAt)).toMatch(/T00:00:00\.000Z$/);
    });

    test("makes no run by a repeated request either, and the same request makes it when there is room", async () => {
      const service = await open();
      await limit(service, { openRuns: 0 });
      const headers = { "idempotency-key": "one" };
      const ask = () => service.call("POST", "/v1/runs", { body: { skill: "greet", message: "" }, headers });
      expect([(await ask()).status, (await ask()).status]).toEqual([429, 429]);
      expect((await service.call("GET", "/v1/runs")).body.data).toEqual([]);
      await limit(service, {});
      const [made, again] = [await ask(), await ask()];
      expect([made.status, again.body.id]).toEqual([201, made.body.id]);
    });

    test("by a message of a session leaves the session free", async () => {
      const service = await open();
      const session = await service.call("POST", "/v1/sessions", { body: { skill: "greet" } });
      const say = () =>
        service.call("POST", `/v1/sessions/${session.body.id}/messages`, { body: { message: "x" } });
      await limit(service, { openRuns: 0 });
      expect(codeOf(await say())).toEqual([429, "quota_open_runs"]);
      await limit(service, {});
      expect((await say()).body).toMatchObject({ turn: 1 });
    });

    test("by a schedule is noted there, and its next time fires", async () => {
      let now = NOON - 30 * 60_000;
      const service = await open({ now: () => now });
      await limit(service, { openRuns: 0 });
      const body = { name: "x", cron: "0 * * * *", run: { skill: "greet", message: "", priority: 3 } };
      const { id } = (await service.call("POST", "/v1/schedules", { body })).body;
      const read = async () => (await service.call("GET", `/v1/schedules/${id}`)).body;
      now = NOON;
      while ((await read()).lastAt === undefined) await new Promise((next) => setTimeout(next, 20));
      expect((await read()).lastFault).toContain("quota");
      await limit(service, {});
      now += 60 * 60_000;
      while ((await read()).lastRun === undefined) await new Promise((next) => setTimeout(next, 20));
      expect((await read()).lastFault).toBeUndefined();
    });
  });

  test("a full store takes no upload", async () => {
    const service = await open({ storedBytes: async () => 90 });
    await limit(service, { storageBytes: 100 });
    const upload = await service.call("POST", "/v1/skills", { body: Buffer.alloc(50) });
    expect(codeOf(upload)).toEqual([413, "storage_full"]);
    expect((await service.call("GET", "/v1/quotas")).body.used).toMatchObject({ storageBytes: 90 });
  });

  test("a priority is a whole number from -10 to 10", async () => {
    const service = await open();
    const ask = (priority: number) =>
      service.call("POST", "/v1/runs", { body: { skill: "greet", message: "", priority } });
    expect([(await ask(-10)).status, (await ask(10)).status]).toEqual([201, 201]);
    for (const wrong of [11, -11, 0.5]) expect((await ask(wrong)).status).toBe(422);
  });
}
