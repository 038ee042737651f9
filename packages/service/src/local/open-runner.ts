/** What a service and a worker share: the skills of this machine and of tenants, and how runs continue with them. */
import { join } from "node:path";
import type { Places } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import type { AdvanceOutcome, JournalStore, RunLease } from "@metier/durable";
import { type RunEvent, runFolder } from "@metier/run/events";
import { createMetier, type Metier, type MetierOptions } from "@metier/runtime";
import type { TenantEgress } from "../providers/private-hosts.ts";
import type { RunNotices } from "../runs/run-notices.ts";
import { openRunFiles } from "../shared/run-files.ts";
import { advanceRuns, listSecretNames } from "./advance-runs.ts";
import { HELD, ONLY_NAMED, ONLY_NAMED_READ, ONLY_READ } from "./held-config.ts";
import { openSkills } from "./open-skills.ts";
import type { ServiceState } from "./open-state.ts";

export interface RunnerOptions {
  readonly environment: Environment;
  /** How long approvals and questions wait for an answer, in milliseconds. Default: forever. */
  readonly questionMs?: number | undefined;
  /** Where workspaces of `metier eval` are searched, besides the skills. Default: the working directory. */
  readonly evalFolders?: readonly string[];
  /** For the `Metier` of the service, such as models. */
  readonly metier?: MetierOptions;
  /** Which tenant addresses may be contacted. */
  readonly egress: TenantEgress;
}

interface Runner {
  /** Of this machine. */
  readonly capabilities: Metier["capabilities"];
  readonly skills: ReturnType<typeof openSkills>;
  /** Continues runs, on a journal that notifies others of each write. */
  advance(
    journal: JournalStore,
    notices: Pick<RunNotices, "wrote">,
    onEvent: (event: RunEvent) => void,
  ): (lease: RunLease) => Promise<AdvanceOutcome>;
  /** Where a run's files are: on this machine, or fetched from storage. */
  workFolder(runId: string): Promise<string | undefined>;
  /** Removes what was fetched. */
  close(): void;
}

const METIER = {
  trust: "grants",
  conflicts: "report",
  bundled: "unless-disabled",
  service: true,
} as const satisfies MetierOptions;

/** `folder`: the service's, on this machine. */
export async function openRunner(
  { journal, records, engine, snapshots, keys, bus }: ServiceState,
  { environment, questionMs, evalFolders = [process.cwd()], metier = {}, egress }: RunnerOptions,
  { places, folder }: { readonly places: Places; readonly folder: string },
): Promise<Runner> {
  const open = (more: MetierOptions): Promise<Metier> =>
    createMetier({
      ...METIER,
      home: places.home,
      environment,
      journal,
      engine,
      snapshots,
      ...metier,
      config: HELD,
      ...more,
    });
  const own = await open({});
  const skills = openSkills({
    metier: own,
    records,
    snapshots,
    isShared: bus !== undefined,
    folder,
    home: places.home,
    cwd: process.cwd(),
    openFolders: (paths, trustedPaths) => open({ paths, trustedPaths, bundled: false, config: ONLY_NAMED }),
    openServed: (paths, trustedPaths, withHome) =>
      open({
        paths,
        trustedPaths,
        ...(withHome ? { config: ONLY_READ } : { bundled: false, config: ONLY_NAMED_READ }),
      }),
    evalFolders,
    secretNames: (tenant) => listSecretNames(records, tenant),
  });
  const under = new Map<string, number>();
  const localFolder = async (runId: string): Promise<string> =>
    runFolder(places, await firstTurn(journal, runId)).work;
  const isHere = (rootId: string): boolean => under.has(rootId);
  const fetched = { journal, snapshots, folder: join(folder, "run-files"), localFolder, isHere };
  const files = bus && openRunFiles(fetched);
  const shared = { records, keys, shelf: skills.shelf, questionMs, egress };
  return {
    capabilities: own.capabilities,
    skills,
    advance: (watched, notices, onEvent) => {
      const onRunEvent = tellText(notices, onEvent, metier.onEvent);
      const openFor = (more: MetierOptions): Promise<Metier> => open({ ...more, onEvent: onRunEvent });
      return noteRuns(under, advanceRuns({ ...shared, journal: watched, open: openFor }));
    },
    workFolder: files?.find ?? localFolder,
    close() {
      skills.insight.close();
      files?.close();
    },
  };
}

type Advance = (lease: RunLease) => Promise<AdvanceOutcome>;

/** Which runs are in progress in this process: their folders here are newer than the stored ones. */
function noteRuns(under: Map<string, number>, advance: Advance): Advance {
  const count = (runId: string, by: number): void => {
    const times = (under.get(runId) ?? 0) + by;
    if (times > 0) under.set(runId, times);
    else under.delete(runId);
  };
  return async (lease) => {
    count(lease.runId, 1);
    try {
      return await advance(lease);
    } finally {
      count(lease.runId, -1);
    }
  };
}

/**
 * What a model is writing, for followers of its run; all events for counting, and for the embedding program's listener.
 */
export function tellText(
  { wrote }: Pick<RunNotices, "wrote">,
  count: (event: RunEvent) => void,
  listener: MetierOptions["onEvent"],
): (event: RunEvent) => void {
  return (event) => {
    if (event.type === "text-delta") wrote(event.runId, event.text);
    count(event);
    listener?.(event);
  };
}

/** The turns of a conversation work in the folder of the first one. */
export async function firstTurn(journal: JournalStore, runId: string): Promise<string> {
  let first = runId;
  for (;;) {
    const previous = (await journal.get(first))?.order.previous;
    if (typeof previous !== "string") return first;
    first = previous;
  }
}
