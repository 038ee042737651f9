/**
 * What other packages may use of `@metier/durable/local`: durable runs on one machine, for programs; and a look at the
 * journal beside its owner, which loads no engine.
 */
export { type LocalDurability, type LocalFolder, openLocal } from "./local-durability.ts";
export { openSqliteReader } from "./sqlite/open-store.ts";
