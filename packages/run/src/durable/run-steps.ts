/**
 * A durable run's view of its journal: the recorded steps, and how to record the next ones. A step is looked up before
 * it is taken. Writes go out one after another, each with the events before it; once one fails, the run is stopped and
 * nothing more is written.
 */
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "@metier/base/files";
import type { Json, JsonObject } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import {
  type DurableRun,
  ENDED,
  type JournalBatch,
  type JournalEntry,
  type JournalEvent,
  type JournalLease,
  type JournalStore,
  type NewQuestion,
  type Question,
  type SnapshotRefusal,
  type SnapshotStore,
} from "@metier/durable";
import { EVENT_VERSION, type RunEvent } from "../events/run-event.ts";
import type { RunSink } from "../events/run-recorder.ts";
import { refusalText } from "../invoke/invocation.ts";
import type { RunResult } from "../run/run-result.ts";

export interface RunSteps {
  /** Whether another process started it: then its log continues. */
  readonly isResumed: boolean;
  /** The number of its last event. */
  readonly lastEvent: number;
  /** Of a run that has ended: a process was killed before its parent noted that. */
  readonly result: Json | undefined;
  /** How long it has been worked on, in milliseconds, in all processes. */
  activeMs(): number;
  find(key: string): Json | undefined;
  /** The value of the newest entry whose key starts with this. */
  newest(prefix: string): Json | undefined;
  /** All values whose keys start with one of these, in order. */
  all(...prefixes: readonly string[]): readonly Json[];
  /**
   * Rejects if the lease is lost or the store failed; then the run is stopped too. `snapshot`: must be kept with it.
   */
  record(key: string, value: Json, snapshot?: string): Promise<void>;
  /** Written with the next write: for entries that nothing has acted on yet. A failed write stops the run. */
  note(key: string, value: Json): void;
  /**
   * The question with this key, with its answer if any. Asked once, however often this is called; what `tell` emits for
   * a new one is written with it.
   */
  ask(question: Omit<NewQuestion, "id">, tell: (questionId: string) => void): Promise<Question>;
  /** The question with this key, if it was asked. */
  asked(key: string): Promise<Question | undefined>;
  /** Events that earlier processes wrote, in order. */
  earlier(): AsyncIterable<RunEvent>;
  /** A run that this one starts, recorded under the same lease. */
  child(runId: string, skill: string): Promise<RunSteps>;
  /** Stores the work folder; returns the snapshot's name, or nothing if folders aren't kept. */
  keepFolder(folder: string): Promise<Result<string, SnapshotRefusal> | undefined>;
  /** Restores the work folder to that snapshot; empties it if there is none. */
  restoreFolder(name: string | undefined, folder: string): Promise<void>;
  /** The status while it hasn't ended. */
  stand(status: "queued" | "waiting"): Promise<void>;
  /**
   * With its last event; a run that ended before its first step has no other. `last`: what a later run needs from it.
   */
  end(result: RunResult, last?: JournalEntry): Promise<void>;
  /** Resolves when every event so far is in the journal. */
  settle(): Promise<void>;
  /** Every event of the run except pieces of text. */
  readonly sink: RunSink;
  /** Another worker advances it now, or it can't be recorded anymore: everything it started is ended. */
  readonly lost: AbortSignal;
  /** It must be given back at its next step. */
  readonly stopping: AbortSignal;
}

interface StepsOptions {
  readonly store: JournalStore;
  readonly lease: JournalLease & Pick<RunSteps, "lost" | "stopping">;
  readonly run: DurableRun;
  /** Absent: work folders aren't kept, because the run continues where they are. */
  readonly snapshots?: SnapshotStore | undefined;
}

/** How long an event waits for others before it is written, unless a step is recorded first. */
const EVENT_DELAY_MS = 50;

export async function openRunSteps(options: StepsOptions): Promise<RunSteps> {
  const { store, lease, run } = options;
  const entries = new Map((await store.entries(run.id)).map(({ key, value }) => [key, value]));
  const writer = openWriter(options);
  const startedAt = performance.now();
  const activeMs = (): number => run.activeMs + Math.round(performance.now() - startedAt);
  const matching = (...prefixes: readonly string[]): readonly Json[] => findAll(entries, prefixes);
  const { sink, lastWord } = openSink(writer, run);
  return {
    isResumed: run.lastEvent > 0,
    lastEvent: run.lastEvent,
    result: ENDED.has(run.status) ? run.result : undefined,
    activeMs,
    find: (key) => entries.get(key),
    newest: (prefix) => matching(prefix).at(-1),
    all: matching,
    async record(key, value, snapshot) {
      await writer.write({ entries: [{ key, value, snapshot }], activeMs: activeMs() });
      entries.set(key, value);
    },
    note(key, value) {
      writer.note({ key, value });
      entries.set(key, value);
    },
    async ask(question, tell) {
      const asked = await store.questionFor(run.id, question.key);
      if (asked) return asked;
      const id = randomUUID();
      tell(id);
      await writer.write({ questions: [{ ...question, id }], activeMs: activeMs() });
      return required(await store.question(id), `question \`${id}\``);
    },
    asked: (key) => store.questionFor(run.id, key),
    earlier: () => readEvents(store, run),
    async child(runId, skill) {
      const child = await recordChild(options, runId, skill);
      return openRunSteps({ ...options, run: child, lease: { ...lease, lost: writer.lost } });
    },
    ...keepFolders(options),
    stand: (status) => writer.write({ status, activeMs: activeMs() }),
    end(result, last) {
      writer.say(lastWord(result));
      const stored = JSON.parse(JSON.stringify(result)) as Json;
      const ending = { status: result.status, result: stored, entries: last && [last] };
      return writer.write({ ...ending, activeMs: activeMs() });
    },
    settle: () => writer.write({ activeMs: activeMs() }),
    sink,
    lost: writer.lost,
    stopping: lease.stopping,
  };
}

interface JournalSink {
  readonly sink: RunSink;
  /** The end of a run, written with its result. */
  lastWord(result: RunResult): JournalEvent;
}

function openSink(writer: Writer, run: Pick<DurableRun, "lastEvent">): JournalSink {
  let said: JournalEvent | undefined;
  let { lastEvent } = run;
  return {
    sink: {
      name: "journal",
      write(event) {
        const line = { seq: event.seq, event: event as unknown as Json };
        lastEvent = event.seq;
        if (event.type === "run-finished") said = line;
        else writer.say(line);
      },
    },
    lastWord: (result) => said ?? describeEnd(result, lastEvent + 1),
  };
}

const EVENTS_AT_ONCE = 1000;

async function* readEvents(
  store: JournalStore,
  { id, lastEvent }: Pick<DurableRun, "id" | "lastEvent">,
): AsyncGenerator<RunEvent> {
  for (let after = 0; after < lastEvent; ) {
    const page = await store.events(id, after, EVENTS_AT_ONCE);
    for (const { seq, event } of page) if (seq <= lastEvent) yield event as unknown as RunEvent;
    after = page.at(-1)?.seq ?? lastEvent;
  }
}

function findAll(entries: ReadonlyMap<string, Json>, prefixes: readonly string[]): readonly Json[] {
  const isWanted = (key: string): boolean => prefixes.some((prefix) => key.startsWith(prefix));
  return [...entries].flatMap(([key, value]) => (isWanted(key) ? [value] : []));
}

/** An end that nobody emitted, because nothing had started yet. */
function describeEnd({ runId, status, error, refusal, ...result }: RunResult, seq: number): JournalEvent {
  const { text, iterations, usage, durationMs, sandbox, capabilities } = result;
  const why = error ?? (refusal && { code: refusal.reason, message: refusalText(refusal) });
  const event: RunEvent = {
    v: EVENT_VERSION,
    runId,
    seq,
    at: new Date().toISOString(),
    type: "run-finished",
    ...{ status, text, iterations, usage, durationMs, error: why, sandbox, capabilities },
  };
  return { seq, event: JSON.parse(JSON.stringify(event)) as Json };
}

async function recordChild(
  { store, lease, run }: StepsOptions,
  runId: string,
  skill: string,
): Promise<DurableRun> {
  const { tenant, userId } = run;
  const order: JsonObject = { kind: "child", skill };
  await store.createChild(lease, { id: runId, tenant, userId, skill, parentId: run.id, order });
  return required(await store.get(runId), `run \`${runId}\``);
}

function required<Value>(stored: Value | undefined, name: string): Value {
  if (stored === undefined) throw new Error(`The ${name} was written but is missing.`);
  return stored;
}

function keepFolders({ snapshots, run }: StepsOptions): Pick<RunSteps, "keepFolder" | "restoreFolder"> {
  const scope = { tenant: run.tenant, runId: run.rootId };
  return {
    keepFolder: async (folder) => snapshots?.take(folder, scope),
    async restoreFolder(name, folder) {
      if (snapshots === undefined) return;
      if (name !== undefined) return snapshots.restore(name, folder, scope);
      for (const left of readdirSync(folder)) removeFolder(join(folder, left));
    },
  };
}

interface Writer {
  write(batch: Omit<JournalBatch, "runId" | "events">): Promise<void>;
  say(event: JournalEvent): void;
  note(entry: JournalEntry): void;
  readonly lost: AbortSignal;
}

function openWriter({ store, lease, run }: StepsOptions): Writer {
  const broken = new AbortController();
  const lost = AbortSignal.any([lease.lost, broken.signal]);
  let said: JournalEvent[] = [];
  let noted: JournalEntry[] = [];
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const write: Writer["write"] = (batch) => {
    clearTimeout(timer);
    timer = undefined;
    // Later events belong to a later write: an event and its step are written together or not at all.
    const events = said;
    said = [];
    const entries = [...noted, ...(batch.entries ?? [])];
    noted = [];
    const written = last.then(async () => {
      if (lost.aborted) throw lost.reason;
      await store.write(lease, { ...batch, runId: run.id, entries, events });
    });
    last = written.catch((fault: unknown) => broken.abort(fault)); // The next write reports the same error.
    return written;
  };
  const writeSoon = (): void => {
    timer ??= setTimeout(() => void write({}).catch(() => undefined), EVENT_DELAY_MS); // `lost` stops the run.
  };
  return {
    write,
    say(event) {
      said.push(event);
      writeSoon();
    },
    note(entry) {
      noted.push(entry);
      writeSoon();
    },
    lost,
  };
}
