/**
 * Scans what was fetched. If everything in a source is requested, scanning starts on another core as soon as skills are
 * found, while they are read and identified; the rest is scanned on request.
 */
import type { Finding, ScanPolicy, ScanReport, SkippedPart } from "@metier/scan";
import { judgeFindings, type ScanPool } from "@metier/scan/engine";

export interface FetchedScan {
  readonly findings: readonly Finding[];
  readonly unscanned: readonly SkippedPart[];
}

interface ScannedFolder {
  readonly directory: string;
  /** Its future name. */
  readonly called: string;
}

export interface FetchedScans {
  /** A skill was found, but not selected yet. */
  begin(directory: string): void;
  /** Once, in the given order. */
  of(
    skills: readonly ScannedFolder[],
    onSkill: (done: number, total: number) => void,
  ): Promise<readonly FetchedScan[]>;
  close(): Promise<void>;
}

/** `isAll`: whatever is found will be scanned. */
export function openFetchedScans(policy: ScanPolicy, isAll: boolean): FetchedScans {
  const begun = new Set<string>();
  // Loaded while the source is fetched.
  const ready = isAll ? openPool(policy) : undefined;
  let pool: ScanPool | undefined;
  const add = (directory: string): void => pool?.add({ subject: { directory } });
  void ready?.then(
    (opened) => {
      pool = opened;
      opened.warm();
      begun.forEach(add);
    },
    () => undefined, // The caller that asks for the scans gets the error.
  );
  const scanAll = async (
    skills: readonly ScannedFolder[],
    onSkill: (done: number, total: number) => void,
  ): Promise<ReadonlyMap<string, ScanReport>> => {
    pool ??= await (ready ?? openPool(policy));
    const directories = begun.size > 0 ? [...begun] : skills.map(({ directory }) => directory);
    if (begun.size === 0)
      for (const { directory, called } of skills) pool.add({ subject: { directory }, name: called });
    const reports = await pool.finish(onSkill);
    return new Map(
      directories.flatMap((directory, index) => {
        const report = reports[index];
        return report ? [[directory, report] as const] : [];
      }),
    );
  };
  return {
    begin(directory) {
      if (!isAll || begun.has(directory)) return;
      begun.add(directory);
      add(directory);
    },
    async of(skills, onSkill) {
      const reports = await scanAll(skills, onSkill);
      const scans: FetchedScan[] = [];
      for (const { directory, called } of skills) {
        const report = reports.get(directory);
        // Some rules are about the name, and it may get another one.
        const isIt = report?.name === called;
        scans.push(isIt ? judge(report, directory, policy) : await scanFetched(directory, called, policy));
      }
      return scans;
    },
    async close() {
      await (await ready?.catch(() => undefined))?.close();
      await pool?.close();
    },
  };
}

/** The first scan loads the grammars. */
async function openPool({ ignore, knownNames }: ScanPolicy): Promise<ScanPool> {
  const { openScanPool } = await import("@metier/scan/engine");
  return openScanPool({ ignore, knownNames, identify: false });
}

export async function scanFetched(directory: string, name: string, policy: ScanPolicy): Promise<FetchedScan> {
  const { scanSkill } = await import("@metier/scan/engine");
  const { ignore, knownNames } = policy;
  const report = await scanSkill({ directory }, { name, ignore, knownNames, identify: false });
  return judge(report, directory, policy);
}

function judge({ name, findings, skipped }: ScanReport, directory: string, policy: ScanPolicy): FetchedScan {
  const place = { name, directory, isInstalled: true };
  return { findings: judgeFindings(findings, place, policy), unscanned: skipped };
}
