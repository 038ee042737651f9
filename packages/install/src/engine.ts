/** The door `@metier/install/engine` for other packages. */
export { installSkills } from "./install/install.ts";
export { findOutdated } from "./install/outdated.ts";
export { describePlugin, reportMissingPlugins } from "./install/plugin-config.ts";
export { removeSkills } from "./install/remove.ts";
export { rollBack } from "./install/rollback.ts";
export { type ComparedFile, compareFiles, showTextChange } from "./install/update/compare-content.ts";
export { updateSkills } from "./install/update.ts";
export { verifySkills } from "./install/verify.ts";
