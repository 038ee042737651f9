/** A path for a Unix socket that only this user can reach: in a fresh folder, and short enough for the system. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PrivateSocket {
  readonly path: string;
  /** The folder and everything in it. */
  remove(): void;
}

/** With the zero at its end; the smallest among the systems. */
const MAX_PATH_BYTES = 103;

/** Below `home`, which no run sees, where that is short enough; else below the folder for temporary files. */
export function makePrivateSocket(name: string, home?: string): PrivateSocket {
  const folder = mkdtempSync(join(baseFor(name, home), PREFIX)); // 0700, by what the function promises
  if (folders.size === 0) process.on("exit", removeAll);
  folders.add(folder);
  return {
    path: join(folder, name),
    remove() {
      rmSync(folder, { recursive: true, force: true });
      folders.delete(folder);
      if (folders.size === 0) process.off("exit", removeAll);
    },
  };
}

/** Those that are in use: a program that exits in the middle leaves none behind. */
const folders = new Set<string>();

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

const PREFIX = "metier-";

function baseFor(name: string, home: string | undefined): string {
  if (home !== undefined && isShort(home, name)) {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return home;
  }
  const base = realpathSync(tmpdir());
  return isShort(base, name) ? base : "/tmp";
}

function isShort(base: string, name: string): boolean {
  return Buffer.byteLength(join(base, `${PREFIX}XXXXXX`, name)) <= MAX_PATH_BYTES;
}
