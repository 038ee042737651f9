/**
 * Live updates: changes to lists, and the events of the run being viewed. `EventSource` reconnects and names the last
 * event it saw, so nothing is missing or doubled.
 */

import type { ApiChange, ApiRun, ApiRunEvent } from "@metier/service/api";
import { computed, effect, type Signal, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ask, exportedAnswer, findMe, isExport, me, reloadAll } from "./answers.ts";

/** `lost`: the server is gone; the page keeps trying. */
export const connection: Signal<"live" | "lost" | "export"> = signal(isExport ? "export" : "live");

const RETRY_MS = 2_000;
/** Merges many changes in a row into one reload. */
const GATHER_MS = 150;

const LISTS: Readonly<Record<ApiChange["kind"], readonly string[]>> = {
  run: ["/v1/runs", "/v1/statistics"],
  approval: ["/v1/approvals", "/v1/questions"],
  catalog: ["/v1/catalog", "/v1/routing"],
};

/** Called for each change, besides the lists that are reloaded. */
const listeners = new Set<(change: ApiChange) => void>();

export function onChange(listener: (change: ApiChange) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const keyId = computed(() => me.value?.keyId);

/** For as long as someone is signed in. */
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
  return openStream(
    { path: () => "/v1/changes" },
    {
      onOpen() {
        const wasLost = connection.peek() === "lost";
        connection.value = "live";
        // Changes until now were not reported.
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
    },
  );
}

interface StreamListener {
  onOpen?(): void;
  onLost?(): void;
  onMessage(data: unknown, kind: string): void;
}

interface StreamSource {
  /** Called on each connection: it continues after what was seen. */
  path(): string;
  /** Whether nothing more can come; asked after a lost connection. */
  isDone?(): Promise<boolean>;
}

/**
 * A browser gives up on an answer that isn't a stream, such as a 503 or a 401, or the 204 after the last event of an
 * ended run. Then the stream is reopened after a pause, unless nothing more can come.
 */
function openStream(
  { path, isDone = async () => false }: StreamSource,
  listener: StreamListener,
): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  const open = (): void => {
    source = new EventSource(path());
    source.onopen = () => listener.onOpen?.();
    const take = (event: MessageEvent<string>): void =>
      listener.onMessage(JSON.parse(event.data), event.type);
    source.onmessage = take;
    source.addEventListener("text", take);
    source.onerror = () => {
      listener.onLost?.();
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(() => void reopen(), RETRY_MS);
    };
  };
  const reopen = async (): Promise<void> => {
    await findMe();
    if (!isClosed && !(await isDone()) && !isClosed) open();
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

const ENDED: ReadonlySet<string> = new Set(["completed", "limited", "failed", "refused", "cancelled"]);

/**
 * Only while the page is visible: a browser has few connections to one server, and each tab would hold one. Events
 * from in between are read when the page is visible again.
 */
function followRun(runId: string, show: (run: FollowedRun) => void): () => void {
  let stop: (() => void) | undefined;
  const state = gatherRun(show);
  const isDone = async (): Promise<boolean> => {
    if (state.hasEnded()) return true;
    const answer = await ask<ApiRun>(`/v1/runs/${encodeURIComponent(runId)}`);
    return answer.ok && ENDED.has(answer.value.status) && answer.value.events <= state.last();
  };
  const look = (): void => {
    if (document.hidden) {
      stop?.();
      stop = undefined;
    } else if (!state.hasEnded()) {
      const path = (): string => `${eventsPath(runId)}?after=${state.last()}`;
      stop ??= openStream({ path, isDone }, { onMessage: state.take });
    }
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    document.removeEventListener("visibilitychange", look);
    stop?.();
  };
}

/** Events as they come, each once; drawn once per frame, since a run read from its start sends thousands. */
function gatherRun(show: (run: FollowedRun) => void) {
  const events: ApiRunEvent[] = [];
  let writing = "";
  let isShown = true;
  const hasEnded = (): boolean => events.at(-1)?.type === "run-finished";
  const last = (): number => events.at(-1)?.seq ?? 0;
  const draw = (): void => {
    isShown = true;
    show({ events: [...events], writing, hasEnded: hasEnded() });
  };
  return {
    last,
    hasEnded,
    take(data: unknown, kind: string): void {
      const event = data as ApiRunEvent;
      if (kind === "text") writing += (data as { readonly text: string }).text;
      else if (event.seq > last()) {
        events.push(event);
        if (event.type === "model-answered") writing = "";
      }
      if (isShown) requestAnimationFrame(draw);
      isShown = false;
    },
  };
}

/** All events of a run at once, for comparing and exporting; `undefined` if unavailable. */
export async function readEvents(runId: string): Promise<readonly ApiRunEvent[] | undefined> {
  const known = exportedAnswer<readonly ApiRunEvent[]>(eventsPath(runId));
  if (known) return known;
  const answer = await ask<{ readonly data: readonly ApiRunEvent[] }>(`${eventsPath(runId)}?as=list`);
  return answer.ok ? answer.value.data : undefined;
}
