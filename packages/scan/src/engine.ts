/** The door `@metier/scan/engine` for other packages. */

export type { FilesInMemory } from "./read-files.ts";
export { findScanRule, listScanRules } from "./rules.ts";
export { scanPaths } from "./scan-paths.ts";
export {
  adviseHeld,
  blockingFindings,
  describeHeld,
  holdBack,
  judgeFindings,
  readScanPolicy,
} from "./scan-policy.ts";
export { openScanPool, type ScanPool } from "./scan-pool.ts";
export { loadScan, type ScanJob, scanSkill } from "./scan-skill.ts";
