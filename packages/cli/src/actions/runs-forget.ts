/** Finds the records of durable runs by id, and deletes them with their runs. */
import { TERMINAL_TENANT } from "@metier/durable";
import type { CommonFlags } from "../commands/define.ts";
import type { CliContext } from "../context.ts";
import { openDurably, readDurableRuns, removeUnneeded } from "./terminal-runs.ts";

const MOST_RUNS = 10_000;

export async function listDurableIds(context: CliContext, flags: CommonFlags): Promise<readonly string[]> {
  const filter = { tenant: TERMINAL_TENANT, isRoot: true, limit: MOST_RUNS };
  const found = await readDurableRuns(context, flags, (journal) => journal.list(filter));
  return (found ?? []).map(({ id }) => id);
}

/**
 * Also deletes snapshots of their work folders. Throws if another process holds the folder, since it may be advancing
 * one of them.
 */
export async function forgetDurable(
  context: CliContext,
  flags: CommonFlags,
  runIds: readonly string[],
): Promise<void> {
  const [first] = runIds;
  if (first === undefined) return;
  const local = await openDurably(context, flags, first);
  try {
    for (const runId of runIds) await local.journal.forget(runId);
    await removeUnneeded(local);
  } finally {
    await local.close();
  }
}
