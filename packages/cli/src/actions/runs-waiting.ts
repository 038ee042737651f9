/** Durable runs that have not ended: they wait for an answer, or for somebody to go on with them. */
import { presentFields } from "@metier/base/json";
import { type DurableRun, TERMINAL_TENANT } from "@metier/durable";
import type { SqliteReader } from "@metier/durable/sqlite";
import type { RunsFlags } from "../commands/doing.ts";
import type { CliContext } from "../context.ts";
import { questionLine, type WaitingRun } from "../output/durable-text.ts";
import { readDurableRuns } from "./terminal-runs.ts";

const MOST_RUNS = 50;
const MOST_QUESTIONS = 5;

/** Newest first: those of the command line, and those of the service that wait for a person. */
export async function listWaiting(context: CliContext, flags: RunsFlags): Promise<readonly WaitingRun[]> {
  const found = await readDurableRuns(context, flags, async (journal) => {
    const own = await journal.list({
      tenant: TERMINAL_TENANT,
      status: ["queued", "running", "waiting"],
      isRoot: true,
      limit: MOST_RUNS,
    });
    const waiting = await journal.list({ status: ["waiting"], isRoot: true, limit: MOST_RUNS });
    const others = waiting.filter(({ tenant }) => tenant !== TERMINAL_TENANT);
    return Promise.all([...own, ...others].map((run) => describe(run, journal)));
  });
  return found ?? [];
}

async function describe(run: DurableRun, journal: SqliteReader["journal"]): Promise<WaitingRun> {
  const { id: runId, skill = "chat", status, createdAt, tenant } = run;
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
