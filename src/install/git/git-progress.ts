/** What git says of its own progress on standard error: `Receiving objects:  45% (123/300), 1.20 MiB | 2.00 MiB/s`. */
import type { FetchProgress } from "../fetch-source.ts";

const STEP = /(?<=^|[\r\n])([A-Z][a-z]+ [a-z]+):\s+\d+% \((\d+)\/(\d+)\)/g;

/** The last step that stands in a chunk; one that is cut comes again, further on. */
export function readProgress(chunk: Uint8Array): FetchProgress | undefined {
  const [, what, done, total] = [...Buffer.from(chunk).toString("latin1").matchAll(STEP)].at(-1) ?? [];
  return what === undefined ? undefined : { what, done: Number(done), total: Number(total) };
}
