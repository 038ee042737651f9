/** The exports of `@metier/durable/snapshots`: encrypted snapshots of folders, their storage, and keys. */
export { openMasterKey, rotateMasterKey } from "./keys/master-key.ts";
export { openTenantKeys, type TenantKeys } from "./keys/tenant-keys.ts";
export { createSnapshotStore } from "./snapshots/create-snapshot-store.ts";
export { openFolderBlobs } from "./snapshots/folder-blobs.ts";
export { readObjectStore } from "./snapshots/object-store-place.ts";
export { openObjectStore } from "./snapshots/open-object-store.ts";
