/**
 * After a service moved to a database: stores its uploads where every machine finds them, and records the skill content
 * of unfinished runs, because another home may continue them.
 */
import { presentFields } from "@metier/base/json";
import {
  type DurableRun,
  forAllTenants,
  forTenant,
  type JournalStore,
  type RecordStore,
} from "@metier/durable";
import type { ChangedOrder } from "@metier/durable/postgres";
import { pinnedOf } from "../runs/project-run.ts";
import type { SkillShelf } from "../shelf/skill-shelf.ts";

interface ImportedParts {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly shelf: SkillShelf;
  /** In the database, before any worker has the run. */
  changeOrders(changed: readonly ChangedOrder[]): Promise<void>;
}

const PAGE = 500;
/** The record kind for the names of uploads. */
const UPLOADS = "skill";

export async function settleImport(parts: ImportedParts): Promise<void> {
  await storeUploads(parts);
  let before: string | undefined;
  do {
    const filter = { status: ["queued", "running", "waiting"], isRoot: true, before, limit: PAGE } as const;
    const page = await forAllTenants(() => parts.journal.list(filter));
    await parts.changeOrders((await Promise.all(page.map((run) => pinRun(parts, run)))).flat());
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}

/** Opening a version stores it, if an older Metier kept it in a folder. */
async function storeUploads({ records, shelf }: ImportedParts): Promise<void> {
  for (const { tenant, id: name } of await forAllTenants(() => records.listAll(UPLOADS))) {
    await forTenant(tenant, async () => {
      for (const { digest } of await shelf.versions(tenant, name)) await shelf.open(tenant, name, digest);
    });
  }
}

/**
 * Returns nothing for an upload, which already names its content, or for a removed skill, which the run reports itself.
 */
async function pinRun({ shelf }: ImportedParts, run: DurableRun): Promise<readonly ChangedOrder[]> {
  const { id: runId, tenant, skill, order } = run;
  const pinned = pinnedOf(run);
  if (pinned.skillVersion !== undefined || pinned.catalog !== undefined) return [];
  const pin = await forTenant(tenant, () => shelf.pin(tenant, skill));
  if (!pin.ok || pin.value === undefined) return [];
  return [{ tenant, runId, order: { ...order, service: presentFields({ ...pinned, catalog: pin.value }) } }];
}
