/** What is in a blob store. */
import type { BlobStore } from "../../src/snapshot-store.ts";

export async function namesOf(blobs: BlobStore, prefix = ""): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of blobs.entries(prefix)) names.push(name);
  return names.sort();
}
