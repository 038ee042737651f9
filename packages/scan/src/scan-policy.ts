/**
 * What findings mean for a skill that nobody vouched for: from which severity on they block it, which rules are not
 * applied, and what someone looked at and accepted. The same for an installation and for a use, before which a skill is
 * scanned unless a scan of exactly its content is remembered.
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
  /** From this severity on a skill is blocked. */
  readonly block: ScanSeverity;
  /** Rules that are not applied, by id. */
  readonly ignore: readonly string[];
  /** Names of the skills that are there: one that looks like them may want to be mistaken for them. */
  readonly knownNames: readonly string[];
  readonly baselines: readonly Baseline[];
  /** Baselines that could not be read; nothing of them is accepted. */
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

/** What is left of findings once the rules that are not applied and what was accepted are taken out. */
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

/** What holds a skill back. */
export interface HeldSkill {
  /** Worst first; at least one. */
  readonly findings: readonly [Finding, ...Finding[]];
  readonly policy: Pick<ScanPolicy, "block" | "diagnostics">;
}

/** `skill` has the trust that was decided for this use. */
export async function holdBack(
  skill: Skill,
  readPolicy: () => ScanPolicy,
  cacheFolder: string | undefined,
): Promise<HeldSkill | undefined> {
  // Given as an object: the program that embeds us wrote it.
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

/** One sentence: what was found where, and that it is not used. */
export function describeHeld(name: string, { findings: [first, ...more], policy }: HeldSkill): string {
  const { id, path, line, message, severity } = first;
  const others = more.length > 0 ? `, and ${more.length} more` : "";
  return `Skill \`${name}\` is untrusted, and the scan found what blocks it: ${path}:${line} ${message} (\`${id}\`, \`${severity}\`${others}; \`scan.block\` is \`${policy.block}\`).`;
}

export function adviseHeld(name: string, { policy: { diagnostics } }: HeldSkill): string {
  const unread = diagnostics.map(({ message }) => ` ${message}`).join("");
  const advice = `\`metier scan ${name}\` shows all of it. If it is harmless, accept it in a file that \`scan.baseline\` names, or trust the skill with \`metier trust ${name}\`; \`scan.block\` in your config says from which severity on a finding blocks.`;
  const upload = (grant: string): string =>
    `\`metier scan\` on its folder shows all of it. If it is harmless, an admin grants exactly this content: ${grant}.`;
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
  // What changed while it was scanned is scanned again by the next use.
  if (record && before.ok && digest === before.value.digest) keep(record, findings);
  return findings;
}

/** Also by what else a scan depends on: the rules, which come with a version, and the names. */
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
    // No room or no permission: the next use scans again.
  }
}
