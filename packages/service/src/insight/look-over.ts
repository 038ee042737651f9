/**
 * What is slow to find out about a skill: its content identity, scan findings, and how other programs treat it. Cached
 * by content: the same bytes are checked once.
 */
import { dropOldest } from "@metier/base/turns";
import { type ClientReport, checkCompat } from "@metier/install/publish";
import { candidateForFile, type SkillCandidate } from "@metier/skills";
import type { ScanSeverity } from "@metier/skills/config";
import { identifyContent, type SkillContent } from "@metier/skills/trust";
import type { ApiClientVerdict, ApiFinding } from "../api-skills.ts";
import { boundText } from "./bounds.ts";

export interface LookedOver {
  /** Absent: it can't be computed, for example because a link leads out of the folder. */
  readonly digest?: string | undefined;
  readonly findings: readonly ApiFinding[];
  readonly clients: readonly ApiClientVerdict[];
}

export interface LookOver {
  /** `name`: what the catalog calls it. */
  look(content: SkillContent, name: string, ignoredRules: readonly string[]): Promise<LookedOver>;
}

const MOST_KEPT = 200;
const MOST_FINDINGS = 500;
const MOST_TEXT = 1_000;

export function openLookOver(): LookOver {
  const kept = new Map<string, Promise<LookedOver>>();
  return {
    look(content, name, ignoredRules) {
      const identity = identifyContent(content);
      const digest = identity.ok ? identity.value.digest : undefined;
      const key = JSON.stringify([digest, name, content.form, ignoredRules]);
      const known = digest === undefined ? undefined : kept.get(key);
      const looked = known ?? lookAt(content, name, ignoredRules, digest);
      if (digest !== undefined) keep(kept, key, looked);
      return looked;
    },
  };
}

function keep(kept: Map<string, Promise<LookedOver>>, key: string, looked: Promise<LookedOver>): void {
  kept.delete(key);
  kept.set(key, looked);
  looked.catch(() => kept.delete(key)); // Whoever asked gets the error; the next request tries again.
  dropOldest(kept, MOST_KEPT);
}

async function lookAt(
  content: SkillContent,
  name: string,
  ignore: readonly string[],
  digest: string | undefined,
): Promise<LookedOver> {
  const candidate = candidateForFile(content.location, content.form, content.directory);
  return {
    digest,
    findings: await findDangers(content, name, ignore),
    clients: await askClients(candidate),
  };
}

async function findDangers(
  content: SkillContent,
  name: string,
  ignore: readonly string[],
): Promise<readonly ApiFinding[]> {
  const { scanSkill } = await import("@metier/scan/engine");
  const { findings } = await scanSkill(content, { name, ignore, identify: false });
  return findings.slice(0, MOST_FINDINGS).map(({ path, line, id, severity, message }) => {
    return { path, line, rule: id, severity: SEVERITIES[severity], message: boundText(message, MOST_TEXT) };
  });
}

const SEVERITIES: Readonly<Record<ScanSeverity, ApiFinding["severity"]>> = {
  block: "critical",
  high: "high",
  medium: "medium",
  low: "low",
  info: "info",
};

async function askClients(candidate: SkillCandidate): Promise<readonly ApiClientVerdict[]> {
  return (await checkCompat(candidate)).clients.map(describeClient);
}

function describeClient({ client, name, works, breaks, notes }: ClientReport): ApiClientVerdict {
  const remarks = [...breaks, ...notes].map(({ about, message }) =>
    boundText(`\`${about}\`: ${message}`, MOST_TEXT),
  );
  const loads = notes.length === 0 ? "loads" : "loads with notes";
  return { client, name, verdict: works ? loads : "does not load", remarks };
}
