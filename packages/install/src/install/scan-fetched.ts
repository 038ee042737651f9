/**
 * Scans what was fetched. If everything in a source is requested, scanning starts as soon as skills are found, while others
 * still come; the rest is scanned on request.
 */
import { presentFields } from "@metier/base/json";
import type { Finding, ScanPolicy, ScanReport, SkippedPart } from "@metier/scan";
import { type FilesInMemory, judgeFindings, type ScanJob, type ScanPool } from "@metier/scan/engine";
import type { WrittenContent } from "./written-files.ts";

export interface FetchedScan {
  readonly findings: readonly Finding[];
  readonly unscanned: readonly SkippedPart[];
}

interface ScannedFolder {
  readonly directory: string;
  /** Its future name. */
  readonly called: string;
  /** What will be installed. */
  readonly digest: string;
}

export interface FetchedScans {
  /** A skill was found, but not selected yet. Without `content`, its files are there. */
  begin(directory: string, content?: WrittenContent): void;
  /** What began so far is not needed. */
  startOver(): void;
  /** Once, in the given order. */
  of(
    skills: readonly ScannedFolder[],
    onSkill: (done: number, total: number) => void,
  ): Promise<readonly FetchedScan[]>;
  close(): Promise<void>;
}

/** `isAll`: whatever is found will be scanned. */
export function openFetchedScans(policy: ScanPolicy, isAll: boolean): FetchedScans {
  let scans = scanFolders(policy, isAll);
  const left: Promise<void>[] = [];
  return {
    begin(directory, content) {
      if (!isAll || scans.has(directory)) return;
      const given = content && giveFiles(content);
      if (content && !given) return; // It begins when the files are there.
      scans.add({ directory, given });
    },
    startOver() {
      if (scans.isEmpty()) return; // It is ready for what comes.
      left.push(scans.close());
      scans = scanFolders(policy, isAll);
    },
    async of(skills, onSkill) {
      if (scans.isEmpty()) for (const { directory, called } of skills) scans.add({ directory }, called);
      const reports = await scans.finish(onSkill);
      const found: FetchedScan[] = [];
      for (const { directory, called, digest } of skills) {
        const report = reports.get(directory);
        // Some rules are about the name, and it may get another one. And what was scanned early may not be all of it.
        const isIt = report?.name === called && report.digest === digest;
        found.push(isIt ? judge(report, directory, policy) : await scanFetched(directory, called, policy));
      }
      return found;
    },
    async close() {
      await Promise.all([...left, scans.close()]);
    },
  };
}

interface FolderScans {
  has(directory: string): boolean;
  isEmpty(): boolean;
  add(
    subject: { readonly directory: string; readonly given?: FilesInMemory | undefined },
    name?: string,
  ): void;
  /** The reports by folder. */
  finish(onSkill: (done: number, total: number) => void): Promise<ReadonlyMap<string, ScanReport>>;
  close(): Promise<void>;
}

/** `isEarly`: begins at once. What it needs is then loaded while the source is fetched. */
function scanFolders({ ignore, knownNames }: ScanPolicy, isEarly: boolean): FolderScans {
  const jobs = new Map<string, ScanJob>();
  let pool: ScanPool | undefined;
  const open = async (): Promise<ScanPool> => {
    const { openScanPool } = await import("@metier/scan/engine");
    pool = openScanPool({ ignore, knownNames });
    if (isEarly) pool.begin();
    for (const job of jobs.values()) pool.add(job);
    return pool;
  };
  let opening = isEarly ? open() : undefined;
  opening?.catch(() => undefined); // The caller that asks for the scans gets the error.
  return {
    has: (directory) => jobs.has(directory),
    isEmpty: () => jobs.size === 0,
    add(subject, name) {
      const job = { subject, ...presentFields({ name }) };
      jobs.set(subject.directory, job);
      pool?.add(job);
    },
    async finish(onSkill) {
      opening ??= open();
      const reports = await (await opening).finish(onSkill);
      return new Map(
        [...jobs.keys()].flatMap((directory, index) => {
          const report = reports[index];
          return report ? [[directory, report] as const] : [];
        }),
      );
    },
    async close() {
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}

/** In one piece, which a thread gets faster. Memory that threads share is read more slowly by this one. */
function giveFiles({ files, read }: WrittenContent): FilesInMemory | undefined {
  const contents = files.flatMap(({ path }) => read(path) ?? []);
  return contents.length === files.length ? { files, bytes: Buffer.concat(contents) } : undefined;
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
