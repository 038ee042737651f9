/**
 * Follows a run for a client of another protocol: what the client may see of each event, and what the run waits for.
 */
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import type { JournalEvent } from "@metier/durable";
import { answerStream, takeStream } from "../http/answer-stream.ts";
import { streamFrames } from "../http/frame-stream.ts";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import type { RouteOutcome } from "../http/route.ts";
import { readAllEvents } from "../runs/export-run.ts";
import { followRun, type RunFollowing } from "../runs/follow-run.ts";
import { type EventProjection, openProjection } from "../runs/project-event.ts";
import type { ServiceContext } from "../service-context.ts";
import { askRoute, type InnerRequest } from "./ask-route.ts";

/** An event of a run as clients of the service see it. */
export type SeenEvent = JsonObject & { readonly type: string; readonly seq: number; readonly at: string };

/** What ends a following. */
export interface FollowLife {
  readonly signal: AbortSignal;
  mayGoOn(): Promise<boolean>;
}

interface ProjectedFollowing extends RunFollowing {
  project(event: JournalEvent): SeenEvent;
}

export async function followProjected(
  { journal, notices, hiddenFolders, times }: ServiceContext,
  runId: string,
  after: number,
  life: FollowLife,
): Promise<ProjectedFollowing> {
  const projection = await openProjection(journal, runId, hiddenFolders);
  const following = followRun({ journal, notices, runId, after, ...times, ...life, text: projection.text });
  return { ...following, project: projectWith(projection) };
}

function projectWith(projection: EventProjection): (event: JournalEvent) => SeenEvent {
  return (event) => projection.event(event) as SeenEvent;
}

const MOST_READ = 20_000;

/** The events of a run up to now. */
export async function readSeenEvents(
  { journal, hiddenFolders }: ServiceContext,
  runId: string,
): Promise<readonly SeenEvent[]> {
  const project = projectWith(await openProjection(journal, runId, hiddenFolders));
  return (await readAllEvents(journal, runId, MOST_READ)).map(project);
}

/** What a run or one of its child runs waits for, as the API shows it. */
export interface Pending {
  readonly approvals: readonly JsonObject[];
  readonly questions: readonly JsonObject[];
}

export async function readPending(
  asking: InnerRequest,
  context: ServiceContext,
  run: string,
): Promise<Pending> {
  const read = async (name: string): Promise<readonly JsonObject[]> => {
    const found = await askRoute(name, asking, context, { query: { run, status: "pending" } });
    return found.ok ? (found.value.data as readonly JsonObject[]) : [];
  };
  const [approvals, questions] = await Promise.all([read("GET /v1/approvals"), read("GET /v1/questions")]);
  return { approvals, questions };
}

/**
 * Server-sent events from a generator of whole frames, for as long as the client listens. Counts as one of the key's
 * open streams, and ends with the key.
 */
export function answerFrames(
  { identity, signal }: InnerRequest,
  context: ServiceContext,
  frames: (life: FollowLife) => AsyncGenerator<string, void>,
): Promise<RouteOutcome> {
  return answerStream(context, identity, signal, async ({ onEnd, ...life }) => {
    const closed = new AbortController();
    const generator = frames({ ...life, signal: AbortSignal.any([life.signal, closed.signal]) });
    return streamFrames({
      async next() {
        const next = await generator.next();
        return next.done ? undefined : next.value;
      },
      end() {
        closed.abort();
        generator.return().catch((fault: unknown) => context.log.fault("events", fault));
        onEnd();
      },
      onFault: (fault) => context.log.fault("events", fault),
    });
  });
}

/**
 * Waits until the run has no more news, for an answer that is sent at the end. Counts as an open stream, because it
 * holds as much.
 */
export async function waitForEnd(
  { identity, signal }: InnerRequest,
  context: ServiceContext,
  tell: (life: FollowLife) => AsyncGenerator<unknown, void>,
): Promise<Result<undefined, HttpRefusal>> {
  const taken = takeStream(context, identity);
  if (!taken.ok) return taken;
  const life = {
    signal: AbortSignal.any([signal, context.stopping]),
    mayGoOn: () => context.keys.stillActs(identity, context.now()),
  };
  try {
    for await (const _ of tell(life)) {
      // Only the end counts here.
    }
  } finally {
    taken.value();
  }
  if (await life.mayGoOn()) return done(undefined);
  return refuse(401, "key_revoked", "This key stopped working during the request.", "Use another key.");
}

/** One server-sent event. `name`: its type, for clients that check it. */
export function frameOf(data: unknown, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** A sign of life. */
export const QUIET_FRAME = ": heartbeat\n\n";
