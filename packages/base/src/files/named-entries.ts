/** Folder entries with names as bytes: a name that isn't UTF-8 has no text that leads back to it. */
import { readdirSync } from "node:fs";

interface NamedEntry {
  readonly name: Buffer;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Replaces lost bytes; isn't valid UTF-8 either. */
const LOST = Buffer.from([0xff]);

export function namedEntries(folder: string): readonly NamedEntry[] {
  if (process.versions.bun === undefined)
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  // Bun returns no entries when asked for bytes.
  return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
    name: entry.name.includes("\ufffd") ? LOST : Buffer.from(entry.name),
    isFile: () => entry.isFile(),
    isDirectory: () => entry.isDirectory(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  }));
}
