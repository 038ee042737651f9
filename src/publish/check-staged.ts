/** Whether a staged skill may be published: it is valid, and nothing in it blocks it or is a secret. */
import { join } from "node:path";
import { readSkill } from "../catalog/read-skill.ts";
import { type Diagnostic, hasErrors } from "../foundation/diagnostic.ts";
import { showPath } from "../host/contained-path.ts";
import { type Finding, isAtLeast } from "../scan/finding.ts";
import type { SkippedPart } from "../scan/scan-limits.ts";
import { blockingFindings, judgeFindings, type ScanPolicy } from "../scan/scan-policy.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import { candidateForFile } from "../sources/candidate.ts";
import { inspectSkill } from "../validate/inspect-skill.ts";
import type { Profile } from "../validate/profiles.ts";
import { SKILL_FILE } from "./stage-skill.ts";

export interface StagedCheck {
  /** Absent: it must not be published, and `reason` says why. */
  readonly manifest?: SkillManifest;
  readonly reason: string;
  readonly diagnostics: readonly Diagnostic[];
  /** Those that keep it from being published; else what else was found. */
  readonly findings: readonly Finding[];
  readonly unscanned: readonly SkippedPart[];
}

export interface CheckRules {
  readonly policy: ScanPolicy;
  readonly profile: Profile;
}

/** `directory`: where the skill itself lies, by which a baseline knows it. */
export async function checkStaged(
  folder: string,
  directory: string,
  { policy, profile }: CheckRules,
): Promise<StagedCheck> {
  const location = join(folder, SKILL_FILE);
  const { checked } = await readSkill(candidateForFile(location, "directory", folder), profile, inspectSkill);
  const { manifest, diagnostics } = checked;
  if (manifest === undefined || hasErrors(diagnostics)) {
    const reason = `It is not valid (\`${profile}\`), so other clients may refuse it.`;
    return { reason, diagnostics, findings: [], unscanned: [] };
  }
  const { scanSkill } = await import("../scan/scan-skill.ts");
  const { name } = manifest;
  const { ignore } = policy;
  const scan = await scanSkill(
    { form: "directory", location, directory: folder },
    { name, ignore, identify: false },
  );
  const left = judgeFindings(scan.findings, { name, directory }, policy);
  const secrets = left.filter(isSecret);
  const blocking = blockingFindings(left, policy);
  if (secrets.length + blocking.length === 0) {
    return { manifest, reason: "", diagnostics, findings: left, unscanned: scan.skipped };
  }
  const findings = left.filter((finding) => secrets.includes(finding) || blocking.includes(finding));
  const reason =
    secrets.length > 0
      ? `There is a secret in ${nameFiles(secrets)}.`
      : `The scan found what blocks it in ${nameFiles(blocking)} (\`scan.block\` is \`${policy.block}\`).`;
  return { reason, diagnostics, findings, unscanned: scan.skipped };
}

/** Whoever gets the skill gets it, too. The mildest of these rules takes digests for secrets, and so decides nothing. */
function isSecret({ id, severity }: Finding): boolean {
  return id.startsWith("secrets.") && isAtLeast(severity, "medium");
}

function nameFiles(findings: readonly Finding[]): string {
  const paths = [...new Set(findings.map(({ path }) => path))];
  const shown = paths.slice(0, 3).map(showPath);
  return `${shown.join(", ")}${paths.length > 3 ? ` and ${paths.length - 3} more` : ""}`;
}
