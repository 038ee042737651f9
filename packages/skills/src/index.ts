/** The door `@metier/skills` for other packages. */
export { buildCatalog } from "./catalog/build-catalog.ts";
export {
  Catalog,
  collectPackages,
  collectUsablePackages,
  type PackageUser,
  type SearchedPlace,
  type SkillFilter,
  type WantedPackage,
} from "./catalog/catalog.ts";
export { checkAvailability, enablementOf } from "./catalog/decide-status.ts";
export { defineSkill, hasFiles, type SkillInit, shelveGiven } from "./catalog/define-skill.ts";
export {
  type ExecutableFile,
  type GivenFiles,
  type GivenSkill,
  kindOf,
  placeGiven,
} from "./catalog/place-skills.ts";
export { isNoSkill, MAX_SKILL_BYTES, readSkill } from "./catalog/read-root.ts";
export { type SkillTrust, type TrustOnUse, trustOnUse } from "./catalog/skill-trust.ts";
export {
  type FixedFile,
  fixPaths,
  searchOptions,
  type ValidationReport,
  type ValidationResult,
  validateGiven,
  validatePaths,
  visitPaths,
} from "./catalog/validate-paths.ts";
export type { BodyMark, Client, ClientFolders, Effect, NameGrammar, Way } from "./clients/client.ts";
export { dialectsOf, findKnownClient, KNOWN_CLIENTS } from "./clients/clients.ts";
export {
  type ActivatedText,
  type ActivationAnswer,
  type Conversation,
  createConversation,
  escapeXml,
  findProtected,
  neutralise,
  takeInstructions,
  wrapInstructions,
} from "./disclose/conversation.ts";
export { estimateTokens, loadTokenCounter, type TokenCounter } from "./disclose/count-tokens.ts";
export {
  type Activation,
  type ListingFormatName,
  type ListingOptions,
  type LocationStyle,
  mountedPlace,
  originLine,
  tellOrigin,
  visibleSkills,
} from "./disclose/listing.ts";
export { isText, mediaTypeByName, mediaTypeOf, partialEdges } from "./disclose/media-type.ts";
export { type Mount, type MountOptions, mountSkills } from "./disclose/mount-skills.ts";
export { outline, section } from "./disclose/outline.ts";
export {
  type ListingPlan,
  type ListingReport,
  MINIMUM_BUDGET,
  type PlanOptions,
  planListing,
} from "./disclose/plan-listing.ts";
export {
  type Instructions,
  readInstructions,
  skillFields,
  writeSkillText,
} from "./disclose/read-instructions.ts";
export { renderListing } from "./disclose/render-listing.ts";
export {
  type ByteRange,
  hasFolder,
  type LocatedSkill,
  listResources,
  type ResourceContent,
  type ResourceKind,
  type ResourceListing,
  readResource,
  type SkillResource,
} from "./disclose/resources.ts";
export { buildFinder, type Finder, type FindHit } from "./find/build-finder.ts";
export type { ScoreExplanation } from "./find/explain-score.ts";
export {
  matchTriggers,
  type TriggerMatch,
  type TriggerMatches,
  type TriggerReason,
} from "./find/match-triggers.ts";
export { type FindIndex, type FindProgress, openFindIndex } from "./find/open-find-index.ts";
export { eachWord, STOP_WORDS, termOf } from "./find/split-words.ts";
export { type BodyPiece, findCommands } from "./parse/body.ts";
export { parseSkill } from "./parse/parse-skill.ts";
export { parseSimpleYaml } from "./parse/simple-yaml.ts";
export { shorten } from "./parse/source-text.ts";
export { splitFrontmatter } from "./parse/split-frontmatter.ts";
export { writeFields } from "./parse/write-fields.ts";
export type { YamlEntry } from "./parse/yaml-lines.ts";
export {
  isCapabilityId,
  parseToolPattern,
  parseToolsetEntry,
} from "./skill/field-grammars.ts";
export { isSpecField, type SkillManifest, type SkillRequirements } from "./skill/manifest.ts";
export {
  findManifestField,
  MANIFEST_FIELDS,
  MAX_COMPATIBILITY_LENGTH,
  manifestJsonSchema,
} from "./skill/manifest-fields.ts";
export type {
  LockedSkill,
  ParsedSkill,
  Position,
  RemoteFile,
  RemoteOrigin,
  Skill,
  SkillCandidate,
  SkillForm,
  SkillLocation,
  SkillStatus,
  SourceOrigin,
  Trust,
  TrustDecision,
} from "./skill/skill.ts";
export {
  isPlainSkillName,
  isServerLabel,
  isSkillName,
  MAX_NAME_LENGTH,
  nearSkills,
  normaliseSkillName,
  parseSkillAddress,
  remoteName,
  SCOPES,
  type Scope,
  serverOf,
} from "./skill/skill-name.ts";
export { findInstalled, type InstalledSkills, reportOutside } from "./sources/installed-skills.ts";
export { openSources } from "./sources/read-sources.ts";
export { leavesProject, searchRoot } from "./sources/search-root.ts";
export { openShelf } from "./sources/shelf.ts";
export {
  candidateForFile,
  formOfFile,
  isSkillFileName,
  type KnownEntry,
  readFolderListing,
  SKILL_FILE,
  toListing,
} from "./sources/skill-files.ts";
export {
  defaultRoots,
  linkTargets,
  type RemoteSkill,
  type RemoteSkills,
  type SkillRoot,
  scopeRank,
} from "./sources/skill-roots.ts";
export {
  checkSkillSources,
  PROGRAM_SOURCE,
  type SkillSource,
  type SourceCall,
  type SourceContent,
  type SourceEntry,
  type SourceFile,
  sourceAddress,
} from "./sources/skill-source.ts";
export { type GivenValue, MANIFEST_DEFAULTS, readFields } from "./validate/build-manifest.ts";
export { coerceCount, coerceList, coerceProse, coerceText, coerceTools } from "./validate/coerce.ts";
export { fixSkill } from "./validate/fix-skill.ts";
export {
  bare,
  type FixableFile,
  isSameReading,
  linesOf,
  openFile,
  replaceEntry,
  replaceLines,
  writeEntry,
} from "./validate/fixable-file.ts";
export { inspectSkill } from "./validate/inspect-skill.ts";
export { createReport, PROFILES, type Profile, type Report } from "./validate/profiles.ts";
export { type HookCommand, type HookEvent, readHooks, type SkillHook } from "./validate/read-hooks.ts";
export { skillFault } from "./validate/skill-fault.ts";
export { regrade, validateSkill } from "./validate/validate-skill.ts";
