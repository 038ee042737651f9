/** The environments of the engine bench, one for each store. */
import { openPostgresBed, openPostgresPlace } from "./postgres-bed.mjs";
import { openSqliteBed, openSqlitePlace } from "./sqlite-bed.mjs";

/**
 * @typedef {object} Opened
 * @property {import("@metier/durable").JournalStore} journal
 * @property {import("@metier/durable").RunEngine} engine
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Bed
 * @property {(name: string) => Promise<string>} place where a measurement keeps its state; any process can open it
 * @property {(place: string) => Promise<Opened>} open
 * @property {(name: string) => Promise<Pick<import("openworkflow/internal").Backend, "claimWorkflowRun" | "createWorkflowRun" | "stop">>} claimer openworkflow alone
 * @property {(name: string) => Promise<void>} copyParked copies the one run parked there as often as needed
 * @property {(name: string) => Promise<number>} bytes
 * @property {() => Promise<void>} close
 *
 * @typedef {"sqlite" | "postgres"} Store
 */

/** @param {Store} store @param {string} folder */
export async function openBed(store, folder) {
  return store === "sqlite" ? openSqliteBed(folder) : openPostgresBed(folder);
}

/** For another process. @param {Store} store @param {string} place */
export function openPlace(store, place) {
  return store === "sqlite" ? openSqlitePlace(place) : openPostgresPlace(place);
}
