/** The queue over HTTP, on whatever store: how many run at once, who goes first, and what operators see of it. */
import { type AdvanceOutcome, forAllTenants, type JournalStore, type RunLease } from "@metier/durable";
import { expect, test } from "vitest";
import type { OpenOptions, TestService } from "../support/open-service.ts";
import { addTenant } from "../support/other-tenant.ts";

interface HeldRuns {
  /** Messages of runs that were begun, in order. */
  readonly begun: string[];
  /** Ends the one that was begun first of those that go on. */
  endOne(): void;
  readonly advance: (journal: JournalStore) => (lease: RunLease) => Promise<AdvanceOutcome>;
}

/** Runs that go on until they are told to end. */
function holdRuns(): HeldRuns {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    endOne: () => ends.shift()?.(),
    advance: (journal) => (lease) =>
      forAllTenants(async (): Promise<AdvanceOutcome> => {
        const { runId: rootId, holder, term } = lease;
        await journal.take({ rootId, holder, term });
        begun.push(String((await journal.get(rootId))?.order.message));
        const isDone = await new Promise<boolean>((resolve) => {
          ends.push(() => resolve(true));
          lease.stopping.addEventListener("abort", () => resolve(false), { once: true });
        });
        if (!isDone) return { kind: "released" };
        await journal.write({ rootId, holder, term }, { runId: rootId, status: "completed", result: {} });
        return { kind: "ended" };
      }),
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export function queueSuite(open: (options?: OpenOptions) => Promise<TestService>): void {
  test("no more runs of a tenant are worked on than its quota says, and a higher quota lets the next begin", async () => {
    const held = holdRuns();
    const service = await open({ openAdvance: held.advance, slots: 4 });
    const limit = (concurrentRuns: number) =>
      service.call("PUT", "/v1/tenants/default/quotas", { body: { concurrentRuns } });
    await limit(1);
    for (const message of ["a", "b", "c"]) await service.start(message);
    await until(() => held.begun.length === 1);
    const { body } = await service.call("GET", "/v1/queue");
    const counts = { queued: 2, running: 1 };
    expect(body).toMatchObject({
      ...counts,
      oldestAt: expect.any(String),
      tenants: [{ tenant: "default", name: "default", ...counts }],
    });
    expect((await service.call("GET", "/v1/quotas")).body.used).toMatchObject({
      concurrentRuns: 1,
      openRuns: 3,
    });
    const { text } = await service.call("GET", "/metrics");
    expect(text).toContain('metier_engine_runs{state="queued"} 2');
    expect(held.begun).toEqual(["a"]);
    await limit(2);
    await until(() => held.begun.length === 2);
  });

  test("among the runs of a tenant that wait, a higher priority goes first, then the older one", async () => {
    const held = holdRuns();
    const service = await open({ openAdvance: held.advance, slots: 1 });
    await service.start("first");
    await until(() => held.begun.length === 1);
    await service.start("low", { priority: -1 });
    await service.start("usual");
    await service.start("high", { priority: 10 });
    await service.start("also usual");
    for (const count of [2, 3, 4, 5]) {
      held.endOne();
      await until(() => held.begun.length === count);
    }
    expect(held.begun).toEqual(["first", "high", "usual", "also usual", "low"]);
  });

  test("an operator of another tenant sees that tenant's part alone", async () => {
    const held = holdRuns();
    const service = await open({ openAdvance: held.advance, slots: 1 });
    for (const message of ["a", "b"]) await service.start(message);
    await until(() => held.begun.length === 1);
    const acme = await addTenant(service, "acme");
    const key = await acme.makeKey(["operate"]);
    const none = { queued: 0, running: 0 };
    const own = (await service.call("GET", "/v1/queue", { key })).body;
    expect(own).toEqual({ ...none, parked: 0, tenants: [{ tenant: acme.id, ...none }] });
    const operator = await service.makeKey(["operate"]);
    const { tenants } = (await service.call("GET", "/v1/queue", { key: operator })).body;
    expect(tenants).toMatchObject([{ tenant: "default", queued: 1, running: 1 }]);
    expect(JSON.stringify(tenants)).not.toContain("name");
  });
}
