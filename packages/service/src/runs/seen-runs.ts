/** Marks runs that are shown here but belong to another process, next to their order. */
import { isJsonObject, type JsonObject } from "@metier/base/json";
import type { DurableRun } from "@metier/durable";
import { DEFAULT_TENANT } from "../keys/identity.ts";

/** For the one person who looks, whoever's it is. */
export function markAsSeen(run: DurableRun): DurableRun {
  const { service } = run.order;
  const known: JsonObject = isJsonObject(service) ? (service as JsonObject) : {};
  const order = { ...run.order, service: { ...known, origin: "kept" } };
  return { ...run, tenant: DEFAULT_TENANT, order };
}

export function isOnlySeen({ order: { service } }: DurableRun): boolean {
  return isJsonObject(service) && service.origin === "kept";
}
