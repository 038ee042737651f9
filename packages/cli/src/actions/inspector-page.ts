/** The inspector's page of this build, for whoever serves it. */
import { MetierError } from "@metier/base/errors";
import type { PageFile } from "@metier/inspector";

interface InspectorPage {
  find(path: string): PageFile | undefined;
}

/** Throws where this build has none. */
export async function requireInspectorPage(): Promise<InspectorPage> {
  const { readPage } = await import("@metier/inspector");
  return readPage();
}

/** `undefined`: this build has none, and the API is served without it. */
export async function findInspectorPage(): Promise<InspectorPage | undefined> {
  try {
    return await requireInspectorPage();
  } catch (fault) {
    if (fault instanceof MetierError) return undefined;
    throw fault;
  }
}
