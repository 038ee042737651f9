/** The door `@metier/skills/trust` for other packages. */

export { type ContentStamps, stampContent } from "./catalog/content-stamps.ts";
export { recallFiles, rememberFiles } from "./lock/file-lists.ts";
export {
  calledAs,
  findEntry,
  isLockName,
  isWithinOwner,
  type Lock,
  type LockEntry,
  type LockFile,
  type LockOwner,
  leadsToOwner,
  lockedFolder,
  originOf,
  type PlacedCopy,
  type PreviousVersion,
  placedFolder,
  projectLockFile,
  type SourceKind,
  storeFolder,
  userLockFile,
  withEntry,
  withoutEntry,
} from "./lock/lock.ts";
export {
  findDifference,
  flushStore,
  knownLocks,
  placeAllInStore,
  placeInStore,
  rememberLock,
} from "./lock/store.ts";
export {
  type ContentChange,
  compareIdentity,
  digestFiles,
  type FileChange,
  type IdentifiedFile,
  identifyContent,
  identifyFolder,
  stampOf,
} from "./trust/content-identity.ts";
export {
  approveRemote,
  decideRemoteTrust,
  decideTrust,
  type Embedding,
  identifyRemote,
  remoteChanges,
  remoteLocation,
  shownCommand,
  type TrustRoot,
  wordsForSkill,
} from "./trust/decide-trust.ts";
export {
  grantFolder,
  grantSkill,
  type Recorded,
  readGrants,
  revoke,
  revokeLocations,
  type StoredGrants,
} from "./trust/grant-store.ts";
export {
  checkSkillGrant,
  type FolderGrant,
  type Grants,
  isConfigGranted,
  resolveTrustedPaths,
  type SkillGrant,
} from "./trust/grants.ts";
export { IDENTITY_LIMITS, type SkillContent } from "./trust/list-content.ts";
export { lowerTrust, type TrustedThing, trustAllows } from "./trust/trust-policy.ts";
export { listTrustQuestions, type ProjectConfigFile, type TrustQuestion } from "./trust/trust-question.ts";
