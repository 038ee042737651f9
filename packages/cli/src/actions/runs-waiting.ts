/** Durable runs that haven't ended: they wait for an answer, or for a process to continue them. */
import { presentFields } from "@metier/base/json";
import { type DurableRun, TERMINAL_TENANT } from "@metier/durable";
import type { SqliteReader } from "@metier/durable/sqlite";
import type { RunsFlags } from "../commands/doing.ts";
import type { CliContext } from "../context.ts";
import { questionLine, type WaitingRun } from "../output/durable-text.ts";
import { readDurableRuns } from "./terminal-runs.ts";

const MOST_RUNS = 50;
const MOST_QUESTIONS = 5;

/** Newest first: runs of the command line, and runs of the service that wait for a person. */
export async function listWaiting(context: CliContext, flags: RunsFlags): Promise<readonly WaitingRun[]> {
  const found = await readDurableRuns(context, flags, async (journal, isClaimed) => {
    const own = await journal.list({
      tenant: TERMINAL_TENANT,
      status: ["queued", "running", "waiting"],
      isRoot: true,
      limit: MOST_RUNS,
    });
    const waiting = await journal.list({ status: ["waiting"], isRoot: true, limit: MOST_RUNS });
    const others = waiting.filter(({ tenant }) => tenant !== TERMINAL_TENANT);
    return Promise.all([...own, ...others].map((run) => describe(run, journal, isClaimed)));
  });
  return found ?? [];
}

/**
 * A terminal's run is never queued for a worker: it was given back, or its process ended before it started. It counts
 * as running while a process holds the folder, unless that process belongs to another run.
 */
function isInterrupted({ status, lastEvent, tenant }: DurableRun, isClaimed: boolean): boolean {
  if (tenant !== TERMINAL_TENANT || status === "waiting") return false;
  return !isClaimed || (status === "queued" && lastEvent > 0);
}

async function describe(
  run: DurableRun,
  journal: SqliteReader["journal"],
  isClaimed: boolean,
): Promise<WaitingRun> {
  const { id: runId, skill = "chat", createdAt, tenant } = run;
  const status = isInterrupted(run, isClaimed) ? "interrupted" : run.status;
  const asked = await journal.questions({ rootId: runId, status: "pending", limit: MOST_QUESTIONS });
  const isOwn = tenant === TERMINAL_TENANT;
  return {
    runId,
    skill,
    status: status as WaitingRun["status"],
    startedAt: new Date(createdAt).toISOString(),
    questions: asked.map(questionLine),
    ...presentFields({ resume: isOwn ? `metier runs resume ${runId}` : undefined }),
  };
}
