/** Small JSON files that are kept for a user, apart from those of every other user. A damaged one is told, never skipped. */
import { createHash } from "node:crypto";
import { type Dirent, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { MetierError } from "@metier/base/errors";
import { readBounded } from "@metier/base/files";
import { type Answer, answerFault } from "./capability.ts";

/**
 * What is kept cannot be used: a damaged file, a key that is not private, a keychain that is locked. A fault of the host, so
 * it is thrown; it hits the user whose file it is, and callers are told with `tellStateError`.
 */
export class CapabilityStateError extends MetierError {
  constructor(message: string, hint: string) {
    super("capability.state", message, { hint });
  }
}

/** Makes an answer of it; anything else is thrown on. */
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

/** `undefined` also for what is damaged. */
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

/** Names in the folder with that ending, without it; none when there is no folder. */
export function listStateFiles(folder: string, ending: string): readonly string[] {
  return entriesOf(folder)
    .filter(({ name }) => name.endsWith(ending) && !name.startsWith("."))
    .map(({ name }) => name.slice(0, -ending.length));
}

/** Paths of the folders in it; none when there is no folder. */
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
