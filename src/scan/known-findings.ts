/**
 * What a scan finds in a skill, remembered by its content: a use of an untrusted skill hashes its files and scans them
 * only when no scan of exactly these was made before. Ignored rules and accepted findings are not left out here.
 */
import { join } from "node:path";
import { VERSION } from "../foundation/version.ts";
import { readBounded } from "../host/read-bounded.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import { identifyContent } from "../trust/content-identity.ts";
import { digestBytes } from "../trust/identify-file.ts";
import type { SkillContent } from "../trust/list-content.ts";
import type { Finding } from "./finding.ts";

export interface FindingsSubject extends SkillContent {
  readonly name: string;
  /** Of other skills. */
  readonly knownNames: readonly string[];
}

const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/** Without a cache folder everything is scanned each time. */
export async function knownFindings(
  subject: FindingsSubject,
  cacheFolder: string | undefined,
): Promise<readonly Finding[]> {
  const before = identifyContent(subject);
  const record = before.ok && cacheFolder && recordFile(cacheFolder, before.identity.digest, subject);
  const known = record ? recall(record) : undefined;
  if (known) return known;
  const { scanSkill } = await import("./scan-skill.ts");
  const { name, knownNames } = subject;
  const { findings, digest } = await scanSkill(subject, { name, knownNames });
  // What changed while it was scanned is scanned again by the next use.
  if (record && before.ok && digest === before.identity.digest) keep(record, findings);
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
