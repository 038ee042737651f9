/**
 * Which snapshots are needed: those of runs, uploaded versions, and home skills that runs were ordered with. Skills
 * that nobody has ordered for a while and no open run names are dropped first.
 */
import {
  type DurableRun,
  forAllTenants,
  type JournalStore,
  type NeededSnapshot,
  type RecordStore,
  type SnapshotStore,
} from "@metier/durable";
import { pinnedOf } from "../runs/project-run.ts";
import { listGivenSnapshots } from "../shelf/given-skills.ts";
import { listVersionSnapshots } from "../shelf/stored-versions.ts";
import { forgetCatalog, listCatalogs } from "./pinned-catalogs.ts";
import { forgetPublished, listPublished } from "./published-skills.ts";

interface NeededParts {
  readonly journal: Pick<JournalStore, "list" | "snapshots">;
  readonly records: RecordStore;
  readonly now: () => number;
}

/** As long as ended runs are kept, because they show which skills they used. */
const KEPT_MS = 30 * 86_400_000;
const PAGE = 500;

/** Removes unneeded blobs; returns how many. */
export function collectSnapshots({
  snapshots,
  now = Date.now,
  ...stores
}: Pick<NeededParts, "journal" | "records"> & {
  readonly snapshots: Pick<SnapshotStore, "collect">;
  readonly now?: () => number;
}): Promise<number> {
  return forAllTenants(() => snapshots.collect(() => findNeeded({ ...stores, now })));
}

async function findNeeded({ journal, records, now }: NeededParts): Promise<readonly NeededSnapshot[]> {
  const before = now() - KEPT_MS;
  const catalogs = await listCatalogs(records);
  const published = await listPublished(records);
  const isOld = ({ orderedAt }: { readonly orderedAt: number }): boolean => orderedAt < before;
  const pinned = [...catalogs, ...published].some(isOld) ? await findPinned(journal) : new Set<string>();
  const reached = new Set<string>();
  for (const catalog of catalogs) {
    if (isOld(catalog) && !pinned.has(catalog.id)) await forgetCatalog(records, catalog);
    else for (const snapshot of catalog.snapshots) reached.add(snapshot);
  }
  for (const snapshot of await listGivenSnapshots(records)) reached.add(snapshot);
  const kept: NeededSnapshot[] = [];
  for (const { tenant, name, orderedAt } of published) {
    if (orderedAt < before && !reached.has(name)) await forgetPublished(records, { tenant, name });
    else kept.push({ tenant, name });
  }
  return [...(await journal.snapshots()), ...(await listVersionSnapshots(records)), ...kept];
}

/** The lists that open runs name. */
async function findPinned(journal: Pick<JournalStore, "list">): Promise<ReadonlySet<string>> {
  const pinned = new Set<string>();
  let before: string | undefined;
  do {
    const page: readonly DurableRun[] = await journal.list({
      status: ["queued", "running", "waiting"],
      isRoot: true,
      before,
      limit: PAGE,
    });
    for (const run of page) {
      const { catalog } = pinnedOf(run);
      if (typeof catalog === "string") pinned.add(catalog);
    }
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
  return pinned;
}
