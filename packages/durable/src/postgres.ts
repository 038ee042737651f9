/** The exports of `@metier/durable/postgres`: everything that many machines share, in Postgres. */
export { type ChangedOrder, changeOrders } from "./postgres/change-orders.ts";
export type { ImportCounts } from "./postgres/import-local.ts";
export { openPostgresEngine } from "./postgres/open-engine.ts";
export { importShared, openShared } from "./postgres/open-shared.ts";
export { openPostgresStore } from "./postgres/open-store.ts";
