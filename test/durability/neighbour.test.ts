/** A tenant with a long queue takes no turn from another: whose first run comes gets the next slot that is free. */
import { join } from "node:path";
import type { RunEngine } from "@metier/durable";

import { openShared } from "@metier/durable/postgres";
import { openSqliteEngine } from "@metier/durable/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { describeWithPostgres } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { newSharedPlaces } from "../support/shared-places.ts";
import { temporaryFolder } from "../support/temporary.ts";

const QUEUED = 200;
const SLOTS = 4;

/** Runs that take as long as the test wants. */
async function lookAtTurns(engine: RunEngine): Promise<void> {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  for (let number = 0; number < QUEUED; number += 1) {
    await engine.enqueue(`long-${number}`, { tenant: "long", priority: 9 });
  }
  const worker = engine.work({
    slots: SLOTS,
    leaseMs: 60_000,
    onFault: (fault) => void started.push(`fault: ${fault}`),
    async advance({ runId }) {
      started.push(runId);
      await new Promise<void>((resolve) => void ends.set(runId, resolve));
      return { kind: "ended" };
    },
  });
  onTestFinished(async () => {
    const stopped = worker.stop(0);
    for (const end of ends.values()) end();
    await stopped;
  });
  const endOne = (): void => {
    const [runId = "", end] = [...ends][0] ?? [];
    ends.delete(runId);
    end?.();
  };
  await until("all slots are taken", () => started.length === SLOTS);
  for (let visit = 0; visit < 3; visit += 1) {
    const before = started.length;
    await engine.enqueue(`short-${visit}`, { tenant: "short" });
    await engine.enqueue(`late-${visit}`, { tenant: "long", priority: 9 });
    endOne();
    await until("the free slot is taken", () => started.length > before);
    expect(started.slice(before)).toEqual([`short-${visit}`]);
    endOne();
    await until("the next one is taken", () => started.length > before + 1);
    expect(started.at(-1)).toMatch(/^long-/);
  }
}

test("on SQLite, another tenant's first run gets the next free slot, and then it is the long queue's turn", async () => {
  const engine = openSqliteEngine({ file: join(temporaryFolder(), "journal.db") });
  if (!engine.ok) throw new Error(engine.refusal.message);
  onTestFinished(() => engine.value.close());
  await lookAtTurns(engine.value);
});

describeWithPostgres("on Postgres", () => {
  test("another tenant's first run gets the next free slot, and then it is the long queue's turn", async () => {
    const { database, objectStore, environment } = await newSharedPlaces();
    const shared = await openShared({
      databaseUrl: database.url,
      adminUrl: database.adminUrl,
      objectStore,
      environment,
    });
    if (!shared.ok) throw new Error(shared.refusal.message);
    onTestFinished(() => shared.value.close());
    await lookAtTurns(shared.value.engine);
  });
});
