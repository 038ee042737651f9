/**
 * What findings mean for an untrusted skill: the severity that blocks it, the ignored rules, and the accepted findings.
 * The same for installing and for using a skill, which is scanned before use unless a scan of exactly its content is
 * cached.
 */
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { readBounded, writeAtomic } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import { forReader } from "@metier/base/text";
import type { Skill } from "@metier/skills";
import type { ScanConfig, ScanSeverity } from "@metier/skills/config";
import { identifyContent, type SkillContent, trustAllows } from "@metier/skills/trust";
import { type AcceptedPlace, applyBaselines, type Baseline, loadBaseline } from "./baseline.ts";
import { type Finding, isAtLeast } from "./scanned-skill.ts";

export interface ScanPolicy {
  /** The lowest severity that blocks a skill. */
  readonly block: ScanSeverity;
  /** Ignored rules, by id. */
  readonly ignore: readonly string[];
  /** Names of existing skills: one that looks like them may want to be mistaken for them. */
  readonly knownNames: readonly string[];
  readonly baselines: readonly Baseline[];
  /** Unreadable baselines, which accept nothing. */
  readonly diagnostics: readonly Diagnostic[];
}

export function readScanPolicy(
  { block, ignore, baseline }: ScanConfig,
  knownNames: readonly string[],
): ScanPolicy {
  const readings = baseline.map(loadBaseline);
  return {
    block,
    ignore,
    knownNames,
    baselines: readings.flatMap((reading) => (reading.ok ? [reading.value] : [])),
    diagnostics: readings.flatMap((reading, index): Diagnostic[] => {
      if (reading.ok) return [];
      const path = baseline[index] ?? "";
      const { message, hint } = reading.refusal;
      return [{ code: "scan.baseline-unreadable", severity: "warning", path, message, hint }];
    }),
  };
}

/** The findings without ignored rules and accepted ones. */
export function judgeFindings(
  findings: readonly Finding[],
  place: AcceptedPlace,
  { ignore, baselines }: Pick<ScanPolicy, "ignore" | "baselines">,
): readonly Finding[] {
  const applied = findings.filter(({ id }) => !ignore.includes(id));
  return applyBaselines(baselines, [{ ...place, findings: applied }]).skills.flatMap(
    (skill) => skill.findings,
  );
}

export function blockingFindings(
  findings: readonly Finding[],
  { block }: Pick<ScanPolicy, "block">,
): readonly Finding[] {
  return findings.filter(({ severity }) => isAtLeast(severity, block));
}

/** What blocks a skill. */
export interface HeldSkill {
  /** Worst first; at least one. */
  readonly findings: readonly [Finding, ...Finding[]];
  readonly policy: Pick<ScanPolicy, "block" | "diagnostics">;
}

/** `skill` has the trust decided for this use. */
export async function holdBack(
  skill: Skill,
  readPolicy: () => ScanPolicy,
  cacheFolder: string | undefined,
): Promise<HeldSkill | undefined> {
  // Defined in code: the embedding program wrote it.
  if (skill.location === "" || trustAllows(skill.trust.level, "be-used-despite-findings")) return undefined;
  const policy = readPolicy();
  const { name, form, location, directory, locked } = skill;
  const knownNames = policy.knownNames.filter((other) => other !== name);
  const found = await knownFindings({ name, form, location, directory, knownNames }, cacheFolder);
  const isInstalled = locked !== undefined && !locked.linked;
  const left = judgeFindings(found, { name, directory, isInstalled }, policy);
  const [first, ...more] = blockingFindings(left, policy);
  return first && { findings: [first, ...more], policy };
}

/** One sentence: what was found where, and that the skill is not used. */
export function describeHeld(name: string, { findings: [first, ...more], policy }: HeldSkill): string {
  const { id, path, line, message, severity } = first;
  const others = more.length > 0 ? `, and ${more.length} more` : "";
  return `Skill \`${name}\` is untrusted, and the scan blocks it: ${path}:${line} ${message} (\`${id}\`, \`${severity}\`${others}; \`scan.block\` is \`${policy.block}\`).`;
}

export function adviseHeld(name: string, { policy: { diagnostics } }: HeldSkill): string {
  const unread = diagnostics.map(({ message }) => ` ${message}`).join("");
  const advice = `See all findings with \`metier scan ${name}\`. If they are harmless, accept them in a file named by \`scan.baseline\`, or trust the skill with \`metier trust ${name}\`; \`scan.block\` in your config sets the lowest severity that blocks.`;
  const upload = (grant: string): string =>
    `Run \`metier scan\` on its folder to see all findings. If they are harmless, an admin grants exactly this content: ${grant}.`;
  return forReader({ command: advice, program: advice, upload }) + unread;
}

interface FindingsSubject extends SkillContent {
  readonly name: string;
  /** Of other skills. */
  readonly knownNames: readonly string[];
}

const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/** Without a cache folder everything is scanned each time. */
async function knownFindings(
  subject: FindingsSubject,
  cacheFolder: string | undefined,
): Promise<readonly Finding[]> {
  const before = identifyContent(subject);
  const record = before.ok && cacheFolder && recordFile(cacheFolder, before.value.digest, subject);
  const known = record ? recall(record) : undefined;
  if (known) return known;
  const { scanSkill } = await import("./scan-skill.ts");
  const { name, knownNames } = subject;
  const { findings, digest } = await scanSkill(subject, { name, knownNames });
  // If it changed during the scan, the next use scans again.
  if (record && before.ok && digest === before.value.digest) keep(record, findings);
  return findings;
}

/** Also keyed by what else a scan depends on: the rules, through their version, and the names. */
function recordFile(
  cacheFolder: string,
  digest: string,
  { name, location, knownNames }: FindingsSubject,
): string {
  const key = JSON.stringify([VERSION, digest, name, location, [...knownNames].sort()]);
  return join(cacheFolder, "scans", `${digestBytes(key).slice("sha256:".length)}.json`);
}

function recall(record: string): readonly Finding[] | undefined {
  const read = readBounded(record, MAX_RECORD_BYTES);
  if (!read.ok) return undefined;
  try {
    const findings: unknown = JSON.parse(read.text);
    return Array.isArray(findings) ? (findings as readonly Finding[]) : undefined;
  } catch {
    return undefined; // Damaged: the skill is scanned again.
  }
}

function keep(record: string, findings: readonly Finding[]): void {
  try {
    writeAtomic(record, JSON.stringify(findings), { flush: false });
  } catch {
    // No space or no permission: the next use scans again.
  }
}
