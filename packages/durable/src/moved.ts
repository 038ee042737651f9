/** A mark in the folder of a service whose runs have moved to a database: each run goes on in one place. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Refusal } from "@metier/base/result";

const MARK = "moved.json";

export function markAsMoved(folder: string): void {
  writeFileSync(join(folder, MARK), `${JSON.stringify({ at: new Date().toISOString() })}\n`, { flush: true });
}

/** Whether the service of this folder has moved; what to say then. */
export function findMoved(folder: string): Refusal | undefined {
  const mark = statSync(join(folder, MARK), { throwIfNoEntry: false });
  if (mark === undefined) return undefined;
  return {
    message: `The service of \`${folder}\` has moved to a database (${mark.mtime.toISOString().slice(0, 10)}), and its runs go on there.`,
    hint: `Pass \`--database\` and \`--object-store\`; or, to start anew on this machine, remove \`${join(folder, MARK)}\` and \`journal.db\` beside it.`,
  };
}
