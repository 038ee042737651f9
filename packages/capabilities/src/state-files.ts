/** Small JSON files stored separately for each user. A damaged one is reported, never skipped. */
import { createHash } from "node:crypto";
import { type Dirent, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { MetierError } from "@metier/base/errors";
import { readBounded } from "@metier/base/files";
import { type Answer, answerFault } from "./capability.ts";

/**
 * Stored state is unusable: a damaged file, a key that is not private, a locked keychain. A fault of the host, so it is
 * thrown; it affects the file's user, and `tellStateError` tells callers.
 */
export class CapabilityStateError extends MetierError {
  constructor(message: string, hint: string) {
    super("capability.state", message, { hint });
  }
}

/** Turns it into an answer; rethrows anything else. */
export async function tellStateError<Value>(work: () => Promise<Answer<Value>>): Promise<Answer<Value>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CapabilityStateError)) throw error;
    const { message, hint } = error;
    return answerFault("capability_backend_unavailable", message, { hint });
  }
}

const MAX_BYTES = 1024 * 1024;

/** An id cannot be chosen to reach another user's folder. */
export function userFolder(folder: string, userId: string): string {
  return join(folder, digestName(userId));
}

/** Turns any text into a file name; different texts get different names, even if one cannot be encoded in UTF-8. */
export function digestName(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest("hex").slice(0, 40);
}

/** `undefined` if there is none. */
export function readStateFile(file: string): unknown {
  const read = readBounded(file, MAX_BYTES);
  if (!read.ok) {
    if (!existsSync(file)) return undefined;
    throw new CapabilityStateError(read.message, `Make \`${file}\` readable, or remove it.`);
  }
  try {
    return JSON.parse(read.text);
  } catch {
    throw damagedFile(file, "it is not JSON"); // The parser's message may quote the content.
  }
}

/** `undefined` also if it is damaged. */
export function readStateFileIfSound(file: string): unknown {
  try {
    return readStateFile(file);
  } catch (error) {
    if (error instanceof CapabilityStateError) return undefined;
    throw error;
  }
}

export function damagedFile(file: string, why: string): CapabilityStateError {
  return new CapabilityStateError(
    `\`${file}\` is damaged: ${why}.`,
    `Remove it (\`rm '${file}'\`) and sign in again.`,
  );
}

/** Names in the folder with that extension, without it; none if the folder does not exist. */
export function listStateFiles(folder: string, ending: string): readonly string[] {
  return entriesOf(folder)
    .filter(({ name }) => name.endsWith(ending) && !name.startsWith("."))
    .map(({ name }) => name.slice(0, -ending.length));
}

/** Paths of its subfolders; none if the folder does not exist. */
export function listStateFolders(folder: string): readonly string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
