/** The exports of `@metier/durable/sqlite`: everything on one machine, in files of one process. */
export { openSqliteEngine } from "./sqlite/open-engine.ts";
export { type LocalState, openLocal } from "./sqlite/open-local.ts";
export {
  openSqliteReader,
  openSqliteStore,
  type SqliteReader,
  type SqliteStore,
} from "./sqlite/open-store.ts";
