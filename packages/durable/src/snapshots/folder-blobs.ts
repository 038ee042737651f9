/**
 * Blobs as files in a folder. A blob is complete or absent: it is written next to its name, flushed and then renamed.
 * All without blocking, because a folder with thousands of files means thousands of flushes.
 */
import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeOwnedName } from "@metier/base/files";
import type { BlobStore, StoredBlob } from "../snapshot-store.ts";

/** `<tenant>/<digest>`; nothing else becomes a path. */
export const BLOB_NAME = /^(?<owner>[0-9a-f]{16})\/(?<shard>[0-9a-f]{2})(?<rest>[0-9a-f]{62})$/;

export function openFolderBlobs(folder: string): BlobStore {
  const fileOf = (name: string): string => {
    const { owner, shard, rest } = BLOB_NAME.exec(name)?.groups ?? {};
    if (owner === undefined || shard === undefined || rest === undefined) {
      throw new Error(`\`${name}\` is not a blob name.`);
    }
    return join(folder, owner, shard, rest);
  };
  return {
    storedAt: async (name) => (await look(fileOf(name)))?.storedAt,
    async put(name, bytes) {
      const file = fileOf(name);
      if ((await look(file)) === undefined || !(await renew(file))) await writeFlushed(file, bytes);
    },
    async get(name) {
      try {
        return await readFile(fileOf(name));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async delete(name) {
      await rm(fileOf(name), { force: true });
    },
    async *entries(prefix) {
      for await (const name of namesIn(folder, prefix)) {
        const found = await look(fileOf(name));
        if (found !== undefined) yield { name, ...found };
      }
    },
  };
}

async function* namesIn(folder: string, prefix: string): AsyncGenerator<string> {
  for (const owner of await entriesOf(folder)) {
    if (!owner.startsWith(prefix.slice(0, owner.length))) continue;
    for (const shard of await entriesOf(join(folder, owner))) {
      for (const rest of await entriesOf(join(folder, owner, shard))) {
        const name = `${owner}/${shard}${rest}`;
        if (BLOB_NAME.test(name) && name.startsWith(prefix)) yield name;
      }
    }
  }
}

/** `undefined`: it doesn't exist, or not anymore. */
async function look(file: string): Promise<Omit<StoredBlob, "name"> | undefined> {
  try {
    const { size, mtimeMs } = await stat(file);
    return { bytes: size, storedAt: mtimeMs };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** `false`: it has been removed in the meantime. */
async function renew(file: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(file, now, now);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function writeFlushed(file: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, makeOwnedName({ prefix: ".", suffix: ".tmp" }));
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function entriesOf(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
