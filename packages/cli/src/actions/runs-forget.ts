/** What is recorded of durable runs of the command line: found by their ids, and forgotten with them. */
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

/** With the snapshots of their work folders. Thrown where another process has the folder: it may be at work on one of them. */
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
