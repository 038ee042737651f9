/** The exports of `@metier/base/files`. */
export { layOutCarried } from "./files/carried.ts";
export { namedEntries } from "./files/named-entries.ts";
export {
  type ContainedFault,
  type ContainedFile,
  checkContainedPath,
  distinctName,
  folderName,
  type OpenOutcome,
  openAllowed,
  openContained,
  openListed,
  showPath,
  withContained,
} from "./files/open-contained.ts";
export {
  findThreadProgram,
  LEAVE_OUT_OF_BUNDLE,
  nativeCode,
  ownFile,
  packageFolder,
  runsFromSources,
} from "./files/own-package.ts";
export { makePrivate, makePrivateFolder, readPrivate } from "./files/private-files.ts";
export {
  type BoundedRead,
  decodeBytes,
  type FileListing,
  type ListedFile,
  listFiles,
  readBounded,
  readBoundedBytes,
} from "./files/read-bounded.ts";
export { watchFolders } from "./files/watch-folders.ts";
export {
  beginReplacing,
  flushFolder,
  makeOwnedName,
  type Replacement,
  removeAbandoned,
  removeFolder,
  removeLeftovers,
  replaceFile,
  tryToRemove,
  writeAtomic,
} from "./files/write-atomic.ts";
