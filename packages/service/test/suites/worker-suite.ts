/** Workers and what is measured of them, on whatever store. */
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { keepBeating, openWorkerRegistry } from "../../src/workers/worker-registry.ts";
import type { openService, TestService } from "../support/open-service.ts";
import { addTenant } from "../support/other-tenant.ts";

const NEW = { id: "w1", host: "alpha", version: "1.0.0", slots: 4 };

/** Beside the service itself, which advances runs, too. */
async function listOthers(service: TestService, key?: string): Promise<readonly JsonObject[]> {
  const { body } = await service.call("GET", "/v1/workers", key === undefined ? {} : { key });
  return (body.data ?? []).filter(({ id }) => id === NEW.id);
}

export function workerSuite(open: typeof openService): void {
  test("a worker is listed while it beats, falls silent when it does not, and is forgotten after a day", async () => {
    let now = Date.parse("2026-11-17T08:00:00Z");
    const service = await open({ now: () => now });
    const registry = openWorkerRegistry(service.store.records, () => now);
    const worker = await registry.announce(NEW);
    await worker.beat(3);
    const list = () => listOthers(service);
    const at = "2026-11-17T08:00:00.000Z";
    expect(await list()).toEqual([{ ...NEW, active: 3, startedAt: at, seenAt: at, state: "working" }]);
    now += 19_000;
    expect(await list()).toMatchObject([{ state: "working" }]);
    now += 2_000;
    expect(await list()).toMatchObject([{ state: "silent" }]);
    const { text } = await service.call("GET", "/metrics");
    expect(text).toMatch(/metier_workers\{state="silent"\} [12]/);
    await worker.beat(0);
    expect(await list()).toMatchObject([{ state: "working", startedAt: at, active: 0 }]);
    now += 86_400_001;
    await registry.forgetSilent();
    expect(await list()).toEqual([]);
  });

  test("a worker that has left is gone, whatever it still says", async () => {
    const service = await open();
    const registry = openWorkerRegistry(service.store.records, Date.now);
    const worker = await registry.announce(NEW);
    await worker.leave();
    await worker.beat(1);
    expect(await listOthers(service)).toEqual([]);
  });

  test("an operator lets a worker drain, and it hears of it once at its next heartbeat", async () => {
    const service = await open();
    const registry = openWorkerRegistry(service.store.records, Date.now);
    const worker = await registry.announce(NEW);
    const key = await service.makeKey(["operate"]);
    const drained = new Promise<void>((resolve) => {
      const beating = keepBeating(worker, {
        active: () => 2,
        onDrain: () => void beating.stop().then(resolve),
        onFault: () => undefined,
        everyMs: 10,
      });
    });
    const asked = await service.call("POST", "/v1/workers/w1/drain", { key });
    expect([asked.status, asked.body.state]).toEqual([202, "draining"]);
    await drained;
    expect(worker.isToDrain()).toBe(true);
    expect(await listOthers(service, key)).toEqual([]);
    expect((await service.call("POST", "/v1/workers/w1/drain", { key })).status).toBe(404);
    const audit = await service.call("GET", "/v1/audit");
    expect(audit.body.data).toContainEqual(
      expect.objectContaining({ action: "worker.drained", subject: "w1" }),
    );
  });

  test("another tenant's operator sees its own part of the queue and no worker", async () => {
    const service = await open();
    await openWorkerRegistry(service.store.records, Date.now).announce(NEW);
    const acme = await addTenant(service, "acme");
    const key = await acme.makeKey(["operate"]);
    const run = await service.start("wait");
    await service.settle(run, "waiting");
    // The run says that it waits a moment before its worker lets go of it.
    await expect
      .poll(async () => (await service.call("GET", "/v1/queue")).body)
      .toMatchObject({ queued: 0, running: 0, parked: 1 });
    const own = await service.call("GET", "/v1/queue", { key });
    const none = { queued: 0, running: 0 };
    expect(own.body).toEqual({ ...none, parked: 0, tenants: [{ tenant: acme.id, ...none }] });
    expect((await service.call("GET", "/v1/workers", { key })).body).toEqual({ data: [] });
    expect((await service.call("POST", "/v1/workers/w1/drain", { key })).status).toBe(404);
    expect((await service.call("GET", "/v1/queue", { key: await acme.makeKey(["read"]) })).status).toBe(403);
  });

  test("metrics tell of the queue and of runs by state, in fixed words", async () => {
    const service = await open();
    const run = await service.start("wait");
    await service.settle(run, "waiting");
    const readMetrics = async (): Promise<string> => (await service.call("GET", "/metrics")).text;
    await expect.poll(readMetrics).toContain('metier_engine_runs{state="parked"} 1');
    const text = await readMetrics();
    expect(text).toMatch(/metier_queue_oldest_seconds \d/);
    expect(text).toContain('metier_sandbox_starts_total{outcome="started"}');
    expect(text).not.toMatch(/default|greet/);
  });
}
