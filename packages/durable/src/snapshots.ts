/** What other packages may use of `@metier/durable/snapshots`: encrypted snapshots of work folders, and the master key. */
export { type MasterKey, openMasterKey, rotateMasterKey } from "./keys/master-key.ts";
export { createSnapshotStore } from "./snapshots/create-snapshot-store.ts";
export { openFolderBlobs } from "./snapshots/folder-blobs.ts";
