/** What other packages may use of `@metier/durable/reading`: a look at the journal beside its owner, without the engine. */
export { openSqliteReader } from "./sqlite/open-store.ts";
