/** The door `@metier/install/publish` for other packages. */
export { COMPAT_CLIENTS } from "./publish/compat/check-file.ts";
export {
  type ClientReport,
  type CompatibilityOptions,
  type CompatibilityReport,
  type CompatRemark,
  checkCompat,
  checkCompatibility,
  type RewrittenSkill,
  type SkillCompatibility,
} from "./publish/compat/compatibility.ts";
export type { PublishProgress } from "./publish/find-asked.ts";
export {
  type PackOptions,
  type PackOutcome,
  type PackReport,
  packPlugin,
} from "./publish/pack-plugin.ts";
export {
  type PluginAuthor,
  type PluginFields,
  type PluginManifest,
  readAuthor,
} from "./publish/plugin-manifest.ts";
export type {
  PackedSkill,
  PublishFault,
  PublishFaultCode,
  PublishRefusal,
  RefusedSkill,
} from "./publish/prepare-skills.ts";
export {
  type PublishedSkill,
  type PublishOptions,
  type PublishOutcome,
  type PublishReport,
  publishSkills,
} from "./publish/publish-skills.ts";
export type { LeftOut } from "./publish/stage-skill.ts";
export { writeGzip, writeTar } from "./publish/stage-skill.ts";
