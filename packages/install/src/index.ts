/** The door `@metier/install` for other packages. */

export {
  type GitAddress,
  parseSourceAddress,
  type SourceAddress,
} from "./install/addresses/source-address.ts";
export { unpackArchive } from "./install/archives/unpack-archive.ts";
export type { InstalledWish } from "./install/choose-skills.ts";
export { clientPath, findClient } from "./install/clients.ts";
export {
  type FetchContext,
  type FetchedSource,
  type FetchProgress,
  fetchSource,
  type SourceFetch,
} from "./install/fetch-source.ts";
export { findSourceSkills } from "./install/find-source-skills.ts";
export {
  type FaultOutcome,
  type InstallFault,
  type InstallFaultCode,
  RefusedTree,
} from "./install/install-fault.ts";
export {
  askNpmForDefault,
  askNpmForRegistry,
  findNpm,
  nodeRegistry,
  type Registry,
} from "./install/npm/npm-registry.ts";
export type { OutdatedOutcome, OutdatedRequest, OutdatedSkill, VersionMark } from "./install/outdated.ts";
export type { PluginConfig } from "./install/plugin-config.ts";
export type { RemoveOptions, RemoveOutcome, RemoveParts, SkillData } from "./install/remove.ts";
export {
  type ChoosableSkill,
  type ConflictAnswer,
  type InstallConflict,
  type InstallDecisions,
  type InstalledSkill,
  type InstallOutcome,
  type InstallParts,
  type InstallReport,
  type InstallRequest,
  type InstallReview,
  isFailure,
  isRisky,
  type LocalChanges,
  type NewRisk,
  type NotUpdated,
  needsReview,
  type ReviewedFile,
  type ReviewedSkill,
  type SkillFinding,
  type SkippedSkill,
  type UpdateAnswer,
  type UpdateDecisions,
  type UpdatedSkill,
  type UpdateOutcome,
  type UpdateRequest,
  type UpdateResult,
  type UpdateReview,
} from "./install/requests.ts";
export type { ScriptGroup, SkillSummary } from "./install/review-skills.ts";
export type { RollbackOptions, RollbackOutcome } from "./install/rollback.ts";
export { SOURCE_LIMITS, type SourceLimits } from "./install/source-limits.ts";
export type {
  VerifiedFolder,
  VerifiedGrant,
  VerifiedSkill,
  VerifyReport,
  VerifyRequest,
} from "./install/verify.ts";
