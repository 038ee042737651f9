/**
 * What comes by itself: changes of lists, and the events of a run that is looked at. `EventSource` comes again after a cut
 * and says what it has seen last, so nothing is missing and nothing twice.
 */

import type { ApiChange, ApiRunEvent } from "@metier/service/api";
import { computed, effect, type Signal, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ask, exportedAnswer, findMe, isExport, me, reloadAll } from "./answers.ts";

/** `lost`: the server is gone; it is tried again and again. */
export const connection: Signal<"live" | "lost" | "export"> = signal(isExport ? "export" : "live");

const RETRY_MS = 2_000;
/** Many changes in a row make one look. */
const GATHER_MS = 150;

const LISTS: Readonly<Record<ApiChange["kind"], readonly string[]>> = {
  run: ["/v1/runs", "/v1/statistics"],
  approval: ["/v1/approvals", "/v1/questions"],
  catalog: ["/v1/catalog", "/v1/routing"],
};

/** Told of each change, beside the lists that are loaded anew. */
const listeners = new Set<(change: ApiChange) => void>();

export function onChange(listener: (change: ApiChange) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const keyId = computed(() => me.value?.keyId);

/** For as long as somebody is signed in. */
export function followChanges(): void {
  if (isExport) return;
  effect(() => (keyId.value === undefined ? undefined : openChanges()));
}

function openChanges(): () => void {
  const pending = new Set<string>();
  const gather = (prefixes: readonly string[]): void => {
    if (pending.size === 0) {
      setTimeout(() => {
        for (const prefix of pending) reloadAll(prefix);
        pending.clear();
      }, GATHER_MS);
    }
    for (const prefix of prefixes) pending.add(prefix);
  };
  let isFirst = true;
  return openStream("/v1/changes", {
    onOpen() {
      const wasLost = connection.peek() === "lost";
      connection.value = "live";
      // Nobody told of what changed until now.
      if (!isFirst || wasLost) reloadAll("/");
      isFirst = false;
    },
    onLost: () => {
      connection.value = "lost";
    },
    onMessage(data) {
      const change = data as ApiChange;
      gather(LISTS[change.kind] ?? []);
      for (const listener of listeners) listener(change);
    },
  });
}

interface StreamListener {
  onOpen?(): void;
  onLost?(): void;
  onMessage(data: unknown, kind: string): void;
}

/**
 * A browser gives up on an answer that is no stream, such as a 503 or a 401: then it is opened anew after a pause. Behind
 * the last event of an ended run comes a 204, which ends it for good (`isDone`).
 */
function openStream(path: string, listener: StreamListener, isDone: () => boolean = () => false): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  const open = (): void => {
    source = new EventSource(path);
    source.onopen = () => listener.onOpen?.();
    const take = (event: MessageEvent<string>): void =>
      listener.onMessage(JSON.parse(event.data), event.type);
    source.onmessage = take;
    source.addEventListener("text", take);
    source.onerror = () => {
      if (isClosed || isDone()) return close();
      listener.onLost?.();
      if (source?.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(() => void findMe().then(() => !isClosed && open()), RETRY_MS);
    };
  };
  const close = (): void => {
    isClosed = true;
    clearTimeout(timer);
    source?.close();
  };
  open();
  return close;
}

/** A run as it comes in: its events in order, and what the model is writing now. */
interface FollowedRun {
  readonly events: readonly ApiRunEvent[];
  readonly writing: string;
  readonly hasEnded: boolean;
}

const NOTHING: FollowedRun = { events: [], writing: "", hasEnded: false };

/** The path under which an export keeps the events of a run. */
function eventsPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}/events`;
}

export function useRunEvents(runId: string | undefined): FollowedRun {
  const [run, setRun] = useState<FollowedRun>(NOTHING);
  useEffect(() => {
    setRun(NOTHING);
    if (runId === undefined) return undefined;
    const known = exportedAnswer<readonly ApiRunEvent[]>(eventsPath(runId));
    if (isExport) return setRun({ events: known ?? [], writing: "", hasEnded: true });
    return followRun(runId, setRun);
  }, [runId, me.value?.keyId]);
  return run;
}

function followRun(runId: string, show: (run: FollowedRun) => void): () => void {
  let run = NOTHING;
  let isShown = true;
  /** A run that is read from its beginning sends thousands of events at once: drawn once for each frame. */
  const change = (next: FollowedRun): void => {
    run = next;
    if (!isShown) return;
    isShown = false;
    requestAnimationFrame(() => {
      isShown = true;
      show(run);
    });
  };
  let events: ApiRunEvent[] = [];
  return openStream(
    eventsPath(runId),
    {
      onMessage(data, kind) {
        if (kind === "text")
          return change({ ...run, writing: run.writing + (data as { text: string }).text });
        const event = data as ApiRunEvent;
        if (event.seq <= (events.at(-1)?.seq ?? 0)) return;
        events = [...events, event];
        const writing = event.type === "model-answered" ? "" : run.writing;
        change({ events, writing, hasEnded: event.type === "run-finished" });
      },
    },
    () => run.hasEnded,
  );
}

/** All events of a run at once, for comparing and exporting. */
export async function readEvents(runId: string): Promise<readonly ApiRunEvent[]> {
  const known = exportedAnswer<readonly ApiRunEvent[]>(eventsPath(runId));
  if (known) return known;
  const answer = await ask<{ readonly data: readonly ApiRunEvent[] }>(`${eventsPath(runId)}?as=list`);
  return answer.ok ? answer.value.data : [];
}
