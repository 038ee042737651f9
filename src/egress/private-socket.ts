/** A path for a Unix socket that only this user can reach: in a fresh folder, and short enough for the system. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PrivateSocket {
  readonly path: string;
  /** The folder and everything in it. */
  remove(): void;
}

/** With the zero at its end; the smallest among the systems. */
const MAX_PATH_BYTES = 103;

export function makePrivateSocket(name: string): PrivateSocket {
  const folder = mkdtempSync(join(baseFor(name), PREFIX)); // 0700, by what the function promises
  return {
    path: join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const PREFIX = "metier-";

function baseFor(name: string): string {
  const base = realpathSync(tmpdir());
  const length = Buffer.byteLength(join(base, `${PREFIX}XXXXXX`, name));
  return length <= MAX_PATH_BYTES ? base : "/tmp";
}
