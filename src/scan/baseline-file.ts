/** Baselines on disk. One that cannot be read accepts nothing, and says so. */
import { readBounded } from "../host/read-bounded.ts";
import { type BaselineReading, readBaseline } from "./baseline.ts";

const MAX_BYTES = 16 * 1024 * 1024;

/** `file` is absolute. */
export function loadBaseline(file: string): BaselineReading {
  const read = readBounded(file, MAX_BYTES);
  if (read.ok) return readBaseline(file, read.text);
  return {
    ok: false,
    message: `The baseline \`${file}\` cannot be read: ${read.message}`,
    hint: "`metier scan --write-baseline FILE` makes one.",
  };
}
