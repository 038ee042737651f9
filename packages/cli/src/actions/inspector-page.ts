/** The inspector's page from this build. */
import { MetierError } from "@metier/base/errors";
import type { PageFile } from "@metier/inspector";

interface InspectorPage {
  find(path: string): PageFile | undefined;
}

/** Throws if this build has none. */
export async function requireInspectorPage(): Promise<InspectorPage> {
  const { readPage } = await import("@metier/inspector");
  return readPage();
}

/** `undefined` if this build has none; the API is then served without it. */
export async function findInspectorPage(): Promise<InspectorPage | undefined> {
  try {
    return await requireInspectorPage();
  } catch (fault) {
    if (fault instanceof MetierError) return undefined;
    throw fault;
  }
}
