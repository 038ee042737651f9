/** The exports of `@metier/durable/local`: durable runs on one machine, for programs. */
export {
  type LocalDurability,
  type LocalFolder,
  type LocalReader,
  openLocal,
  openShared,
  readLocal,
  type SharedDurability,
  type SharedStores,
} from "./local-durability.ts";
export { findMoved } from "./moved.ts";
export type { SnapshotLimits } from "./snapshots/count-bytes.ts";
