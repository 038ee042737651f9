/** All matching records of a kind, however many: read page by page, before any of them is changed. */
import type { RecordStore, StoredRecord } from "@metier/durable";

const PAGE = 500;

export async function findRecords(
  records: RecordStore,
  { tenant, kind }: Pick<StoredRecord, "tenant" | "kind">,
  isWanted: (stored: StoredRecord) => boolean = () => true,
): Promise<readonly StoredRecord[]> {
  const found: StoredRecord[] = [];
  let after: string | undefined;
  do {
    const page = await records.list({ tenant, kind, after, limit: PAGE });
    found.push(...page.filter(isWanted));
    after = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (after !== undefined);
  return found;
}
