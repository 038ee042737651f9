/**
 * A run as protocols report it: its events as clients may see them, its text in pieces that add up to the whole, and
 * the moments when it waits for a person. Each protocol translates this into its own format.
 */
import type { JsonObject } from "@metier/base/json";
import { type DurableRun, ENDED } from "@metier/durable";
import { followRun } from "../runs/follow-run.ts";
import { openProjection } from "../runs/project-event.ts";
import type { ServiceContext } from "../service-context.ts";
import { askRoute, type InnerRequest } from "./ask-route.ts";
import { type FollowLife, type Pending, readPending } from "./follow.ts";
import { answeredText } from "./foreign-shapes.ts";

export type RunNews =
  | { readonly kind: "event"; readonly event: JsonObject }
  /** `restarts`: discard what was sent of this text before. */
  | { readonly kind: "text"; readonly text: string; readonly restarts: boolean }
  /** The run waits for these answers. Sent once for each set of them. */
  | { readonly kind: "waiting"; readonly asked: Pending }
  | { readonly kind: "quiet" }
  /** As `GET /v1/runs/{id}` shows it. The last news of a run. */
  | { readonly kind: "ended"; readonly run: JsonObject };

/** How often to check for questions of child runs, which aren't events of this run. */
const LOOK_MS = 1_000;

/** Ends after `ended`, or without it if the client may no longer listen. */
export async function* tellRun(
  asking: InnerRequest,
  context: ServiceContext,
  run: DurableRun,
  life: FollowLife,
  after = 0,
): AsyncGenerator<RunNews, void> {
  const { journal, notices, times } = context;
  const projection = await openProjection(journal, run.id, context.hiddenFolders);
  const following = followRun({
    journal,
    notices,
    runId: run.id,
    after,
    heartbeatMs: Math.min(LOOK_MS, times.heartbeatMs),
    pollMs: times.pollMs,
    ...life,
    text: projection.text,
  });
  const pieces = joinPieces(run.lastEvent);
  const look = lookForQuestions(asking, context, run);
  try {
    for (let followed = await following.next(); followed; followed = await following.next()) {
      if (followed.kind === "text") yield* pieces.add(followed.text);
      if (followed.kind === "events") {
        for (const one of followed.events) yield* pieces.see(one.seq, projection.event(one) as JsonObject);
      }
      if (followed.kind === "waiting" || followed.kind === "quiet") yield* await look();
      if (followed.kind === "quiet") yield { kind: "quiet" };
    }
    yield* await tellEnd(asking, context, run);
  } finally {
    following.end();
  }
}

function lookForQuestions(
  asking: InnerRequest,
  context: ServiceContext,
  run: DurableRun,
): () => Promise<readonly RunNews[]> {
  let told = "";
  return async () => {
    const asked = await pendingOf(asking, context, run);
    const ids = [...asked.approvals, ...asked.questions].map(({ id }) => id).join(" ");
    const isNew = ids !== "" && ids !== told;
    told = ids;
    return isNew ? [{ kind: "waiting", asked }] : [];
  };
}

async function tellEnd(
  asking: InnerRequest,
  context: ServiceContext,
  { id }: DurableRun,
): Promise<readonly RunNews[]> {
  const run = await context.journal.get(id);
  if (run === undefined || !ENDED.has(run.status)) return [];
  const shown = await askRoute("GET /v1/runs/{id}", asking, context, { params: { id } });
  return shown.ok ? [{ kind: "ended", run: shown.value }] : [];
}

/** What people are being asked now; nothing if the run isn't waiting. */
export async function pendingOf(
  asking: InnerRequest,
  context: ServiceContext,
  { id, rootId }: Pick<DurableRun, "id" | "rootId">,
): Promise<Pending> {
  const isWaiting = (await context.journal.get(id))?.status === "waiting";
  return isWaiting ? readPending(asking, context, rootId) : { approvals: [], questions: [] };
}

/** The run's events up to one that the client has seen. */
export async function readEarlier(
  asking: InnerRequest,
  context: ServiceContext,
  id: string,
  until: number,
): Promise<readonly JsonObject[]> {
  if (until === 0) return [];
  const query = { as: "list" };
  const listed = await askRoute("GET /v1/runs/{id}/events", asking, context, { params: { id }, query });
  const events = listed.ok ? (listed.value.data as readonly JsonObject[]) : [];
  return events.filter(({ seq }) => Number(seq) <= until);
}

interface Pieces {
  add(text: string): Iterable<RunNews>;
  see(seq: number, event: JsonObject): Iterable<RunNews>;
}

/**
 * Pieces are sent while a text is written, but the complete text in the journal is authoritative: anything missing is
 * sent then. If a text started before the client followed it (`lastEvent`), no pieces are sent, only the complete text.
 */
function joinPieces(lastEvent: number): Pieces {
  let written = "";
  let isFollowed = lastEvent === 0;
  return {
    *add(text) {
      if (!isFollowed) return;
      written += text;
      yield { kind: "text", text, restarts: false };
    },
    *see(seq, event) {
      if (event.type === "model-answered") {
        const whole = answeredText(event);
        const restarts = !whole.startsWith(written);
        const text = restarts ? whole : whole.slice(written.length);
        written = "";
        if (text !== "") yield { kind: "text", text, restarts };
      }
      if (seq > lastEvent) isFollowed = true;
      yield { kind: "event", event };
    },
  };
}
