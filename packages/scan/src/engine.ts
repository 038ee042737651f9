/** What other packages may use of `@metier/scan/engine`. */

export { findScanRule, listScanRules } from "./rules.ts";
export {
  adviseHeld,
  blockingFindings,
  describeHeld,
  holdBack,
  judgeFindings,
  readScanPolicy,
} from "./scan-policy.ts";
export { scanPaths, scanSkill } from "./scan-skill.ts";
