/** The door `@metier/scan` for other packages. */

export { type AcceptedFinding, applyBaselines, loadBaseline, renderBaseline } from "./baseline.ts";
export { TOKEN_FORMS } from "./code/known-secrets.ts";
export { languageOf, signatureOf } from "./file-types.ts";
export type { PathsReport, ScannedPath } from "./scan-paths.ts";
export type { HeldSkill, ScanPolicy } from "./scan-policy.ts";
export type { ScanReport } from "./scan-skill.ts";
export type { RuleFacts, SkippedPart } from "./scanned-skill.ts";
export { type Finding, isAtLeast } from "./scanned-skill.ts";
