/** A mark in the folder of a service whose runs moved to a database: each run continues in one place only. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Refusal } from "@metier/base/result";

const MARK = "moved.json";

export function markAsMoved(folder: string): void {
  writeFileSync(join(folder, MARK), `${JSON.stringify({ at: new Date().toISOString() })}\n`, { flush: true });
}

/** Whether this folder's service has moved, and the message if so. */
export function findMoved(folder: string): Refusal | undefined {
  const mark = statSync(join(folder, MARK), { throwIfNoEntry: false });
  if (mark === undefined) return undefined;
  return {
    message: `The service in \`${folder}\` moved to a database on ${mark.mtime.toISOString().slice(0, 10)}; its runs continue there.`,
    hint: `Pass \`--database\` and \`--object-store\`. To start over on this machine, remove \`${join(folder, MARK)}\` and the \`journal.db\` next to it.`,
  };
}
