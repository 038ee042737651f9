/** Small JSON files that are kept for a user, apart from those of every other user. A damaged one is told, never skipped. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readBounded } from "../host/read-bounded.ts";
import { CapabilityStateError } from "./state-error.ts";

const MAX_BYTES = 1024 * 1024;

/** Nobody can choose an id that leads to the folder of another user. */
export function userFolder(folder: string, userId: string): string {
  return join(folder, digestName(userId));
}

/** Any text as the name of a file; two texts have two names, also where one of them cannot be written in UTF-8. */
export function digestName(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest("hex").slice(0, 40);
}

/** `undefined` when there is none. */
export function readStateFile(file: string): unknown {
  const read = readBounded(file, MAX_BYTES);
  if (!read.ok) {
    if (!existsSync(file)) return undefined;
    throw new CapabilityStateError(read.message, `Make \`${file}\` readable for you, or remove it.`);
  }
  try {
    return JSON.parse(read.text);
  } catch {
    throw damagedFile(file, "it is not JSON"); // What the parser says may quote the content.
  }
}

export function damagedFile(file: string, why: string): CapabilityStateError {
  return new CapabilityStateError(
    `\`${file}\` is damaged: ${why}.`,
    `Remove it (\`rm '${file}'\`) and sign in again.`,
  );
}

/** Names in the folder with that ending, without it; none when there is no folder. */
export function listStateFiles(folder: string, ending: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ending) && !name.startsWith("."))
      .map((name) => name.slice(0, -ending.length));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
