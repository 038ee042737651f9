/**
 * Follows the file into which git writes a pack that it receives. Git gives it its name when it is complete and checked; until
 * then its name is temporary.
 */
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { createPackReader, type PackObject } from "./pack-reader.ts";

interface FollowedPack extends Pick<ReturnType<typeof createPackReader>, "count" | "find"> {
  /** Reads what has come since. Cheap if nothing has. `isLast`: nothing more comes. */
  look(isLast?: boolean): void;
  /** There was a doubt, in the pack or of `take`, or the system refused: nothing more is read. */
  isStopped(): boolean;
  close(): void;
}

const CHUNK_BYTES = 256 * 1024;

/** Of a new repository. `take` gets each object once, and throws at a doubt. */
export function followPack(
  repository: string,
  maxObjects: number,
  take: (object: PackObject) => void,
): FollowedPack {
  const folder = join(repository, "objects", "pack");
  const reader = createPackReader(maxObjects, take);
  let descriptor: number | undefined;
  let buffer: Buffer | undefined;
  let isStopped = false;
  const readOn = (isLast: boolean): void => {
    descriptor ??= openPack(folder);
    if (descriptor === undefined) return;
    buffer ??= Buffer.alloc(CHUNK_BYTES);
    for (let length = CHUNK_BYTES; length === CHUNK_BYTES; ) {
      length = readSync(descriptor, buffer);
      const isEnd = isLast && length < CHUNK_BYTES;
      if (length > 0 || isEnd) reader.read(buffer.subarray(0, length), isEnd);
    }
  };
  return {
    count: reader.count,
    find: reader.find,
    look(isLast = false) {
      if (isStopped) return;
      try {
        readOn(isLast);
      } catch {
        isStopped = true; // Git or `write-tree.ts` meets the same problem later and reports it.
      }
    },
    isStopped: () => isStopped,
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function openPack(folder: string): number | undefined {
  try {
    const name = readdirSync(folder).find((one) => one.startsWith("tmp_pack_") || one.endsWith(".pack"));
    return name === undefined ? undefined : openSync(join(folder, name), "r");
  } catch {
    return undefined; // It is not there yet, or was just renamed: the next look finds it.
  }
}
