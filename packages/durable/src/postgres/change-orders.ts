/**
 * Adjusts the orders of runs that moved from one machine. Anything they left to that machine must be stated now, before
 * any worker has the run; afterwards an order never changes.
 */
import type { JsonObject } from "@metier/base/json";
import { ALL_TENANTS } from "../tenant-scope.ts";
import { openPool } from "./open-pool.ts";
import { writeText } from "./text.ts";

export interface ChangedOrder {
  readonly tenant: string;
  readonly runId: string;
  readonly order: JsonObject;
}

export async function changeOrders(databaseUrl: string, changed: readonly ChangedOrder[]): Promise<void> {
  const pool = openPool(databaseUrl, { most: 1, settings: { "metier.tenant": ALL_TENANTS } });
  try {
    for (const { tenant, runId, order } of changed) {
      await pool`UPDATE metier.run_texts SET request = ${JSON.stringify(order)}
        WHERE tenant = ${writeText(tenant)} AND run_id = ${writeText(runId)}`;
    }
  } finally {
    await pool.end({ timeout: 5 });
  }
}
