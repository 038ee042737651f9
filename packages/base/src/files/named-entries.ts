/** What is in a folder, with names in bytes: one that is not UTF-8 has no text that leads back to it. */
import { readdirSync } from "node:fs";

interface NamedEntry {
  readonly name: Buffer;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Stands for bytes that are lost; it is no UTF-8 either. */
const LOST = Buffer.from([0xff]);

export function namedEntries(folder: string): readonly NamedEntry[] {
  if (process.versions.bun === undefined)
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  // Bun gives no entries where bytes are asked for.
  return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
    name: entry.name.includes("\ufffd") ? LOST : Buffer.from(entry.name),
    isFile: () => entry.isFile(),
    isDirectory: () => entry.isDirectory(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  }));
}
