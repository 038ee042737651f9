/** A worker in another process, as a service sees it: what it writes of itself into the store that both share. */
import { join } from "node:path";
import { openSqliteStore } from "@metier/durable/sqlite";
import type { World } from "./world.ts";

/** The store of the service over this world. */
export function storeOf(world: World): string {
  return join(world.home, ".metier", "state", "service", "journal.db");
}

/** It has 8 slots. Seen in an hour: a slow machine does not make it silent. */
export async function announceWorker(world: World, host: string, seenInMs = 3_600_000): Promise<void> {
  const store = openSqliteStore({ file: storeOf(world) });
  if (!store.ok) throw new Error(store.refusal.message);
  const id = `worker-${host.replace(/\W/g, "").slice(0, 20)}`;
  const now = Date.now();
  await store.value.records.put(
    { tenant: "@system", kind: "worker", id },
    { host, version: "1.0.0", slots: 8, active: 3, startedAt: now - 3_600_000, seenAt: now + seenInMs },
    0,
  );
  store.value.close();
}
