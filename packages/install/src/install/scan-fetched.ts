/**
 * Scans what was fetched. If everything in a source is requested, scanning starts as soon as skills are found, while others
 * still come; the rest is scanned on request.
 */
import type { Finding, ScanPolicy, ScanReport, SkippedPart } from "@metier/scan";
import { type FetchedFiles, judgeFindings, type ScanPool } from "@metier/scan/engine";
import type { WrittenContent } from "./written-files.ts";

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
  /** A skill was found, but not selected yet. Without `content`, its files are there. */
  begin(directory: string, content?: WrittenContent): void;
  /** Once, in the given order. */
  of(
    skills: readonly ScannedFolder[],
    onSkill: (done: number, total: number) => void,
  ): Promise<readonly FetchedScan[]>;
  close(): Promise<void>;
}

/** `isAll`: whatever is found will be scanned. */
export function openFetchedScans(policy: ScanPolicy, isAll: boolean): FetchedScans {
  const begun = new Map<string, FetchedFiles | undefined>();
  // Loaded while the source is fetched.
  const ready = isAll ? openPool(policy) : undefined;
  let pool: ScanPool | undefined;
  const add = (given: FetchedFiles | undefined, directory: string): void =>
    pool?.add({ subject: { directory, ...(given && { given }) } });
  void ready?.then(
    (opened) => {
      pool = opened;
      opened.begin();
      begun.forEach(add);
    },
    () => undefined, // The caller that asks for the scans gets the error.
  );
  const scanAll = async (
    skills: readonly ScannedFolder[],
    onSkill: (done: number, total: number) => void,
  ): Promise<ReadonlyMap<string, ScanReport>> => {
    pool ??= await (ready ?? openPool(policy));
    const directories = begun.size > 0 ? [...begun.keys()] : skills.map(({ directory }) => directory);
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
    begin(directory, content) {
      if (!isAll || begun.has(directory)) return;
      const given = content && giveFiles(content);
      if (content && !given) return; // It begins when the files are there.
      begun.set(directory, given);
      add(given, directory);
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

/** In one piece, which a thread gets faster. */
function giveFiles({ files, read }: WrittenContent): FetchedFiles | undefined {
  const contents = files.flatMap(({ path }) => read(path) ?? []);
  return contents.length === files.length ? { files, bytes: Buffer.concat(contents) } : undefined;
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
