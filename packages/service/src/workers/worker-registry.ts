/**
 * Which processes advance runs. Each stores a record and renews it while it is alive; a record that isn't renewed is
 * silent, and forgotten after a day. An operator drains a worker with a mark in its record, which it sees at its next
 * heartbeat.
 */
import { type JsonObject, presentFields } from "@metier/base/json";
import { countShape, fitShape, flagShape, recordShape, textShape } from "@metier/base/shape";
import { forAllTenants, type NewAuditLine, type RecordStore, type StoredRecord } from "@metier/durable";
import type { ApiWorker } from "../api-operate.ts";
import { SYSTEM_TENANT } from "../keys/identity.ts";

const KIND = "worker";
const BEAT_MS = 5_000;
const SILENT_MS = 20_000;
const FORGET_MS = 86_400_000;
const MOST_WORKERS = 10_000;

interface WorkerBody {
  readonly host: string;
  readonly version: string;
  readonly slots: number;
  readonly active: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly seenAt: number;
  readonly isToDrain?: boolean | undefined;
}

const bodyShape = recordShape<WorkerBody>(
  {
    host: textShape,
    version: textShape,
    slots: countShape,
    active: countShape,
    startedAt: countShape,
    seenAt: countShape,
    isToDrain: flagShape,
  },
  ["isToDrain"],
);

/** A process that advances runs, as it describes itself. */
interface NewWorker extends Pick<WorkerBody, "host" | "version" | "slots"> {
  /** Unique among all workers. */
  readonly id: string;
}

interface AnnouncedWorker {
  /** Reports that it is alive, and how many runs it advances. Does nothing once it has left. */
  beat(active: number): Promise<void>;
  /** Whether an operator wants it to take no more runs, as of the last heartbeat. */
  isToDrain(): boolean;
  /** It has ended: removes its record. */
  leave(): Promise<void>;
}

export interface WorkerRegistry {
  announce(worker: NewWorker): Promise<AnnouncedWorker>;
  /** Oldest first. */
  list(): Promise<readonly ApiWorker[]>;
  /** `undefined`: no worker has this id. */
  drain(id: string, line: NewAuditLine): Promise<ApiWorker | undefined>;
  /** Removes those that were silent for a day. */
  forgetSilent(): Promise<void>;
}

/** The service's own records; who may ask for them is decided earlier. */
export function openWorkerRegistry(records: RecordStore, now: () => number): WorkerRegistry {
  const read = async (id: string): Promise<StoredRecord | undefined> => records.get(keyOf(id));
  const listStored = () => records.list({ tenant: SYSTEM_TENANT, kind: KIND, limit: MOST_WORKERS });
  return {
    announce: (worker) => announce(records, worker, now),
    list: () =>
      forAllTenants(async () => (await listStored()).flatMap((stored) => showWorker(stored, now()) ?? [])),
    drain: (id, line) =>
      forAllTenants(async () => {
        for (;;) {
          const stored = await read(id);
          if (stored === undefined) return undefined;
          const changed = await records.put(
            stored,
            { ...stored.body, isToDrain: true },
            stored.revision,
            line,
          );
          if (changed !== undefined) return showWorker(changed, now());
        }
      }),
    forgetSilent: () =>
      forAllTenants(async () => {
        for (const stored of await listStored()) {
          const body = fitShape(bodyShape, stored.body);
          if (body === undefined || now() - body.seenAt > FORGET_MS) await records.delete(stored);
        }
      }),
  };
}

async function announce(
  records: RecordStore,
  { id, host, version, slots }: NewWorker,
  now: () => number,
): Promise<AnnouncedWorker> {
  const about = { host, version, slots, startedAt: now() };
  let isToDrain = false;
  let hasLeft = false;
  const write = (active: number): Promise<void> =>
    forAllTenants(async () => {
      while (!hasLeft) {
        const before = await records.get(keyOf(id));
        isToDrain ||= before?.body.isToDrain === true;
        const body = { ...about, active, seenAt: now(), ...(isToDrain && { isToDrain }) };
        const stored = await records.put(keyOf(id), presentFields(body), before?.revision ?? 0);
        if (stored !== undefined) return; // Otherwise an operator was faster; read the mark.
      }
    });
  await write(0);
  return {
    beat: write,
    isToDrain: () => isToDrain,
    async leave() {
      hasLeft = true;
      await forAllTenants(() => records.delete(keyOf(id)));
    },
  };
}

interface Beating {
  /** How many runs it advances now. */
  active(): number;
  /** An operator wants it to take no more runs; called once. */
  onDrain(): void;
  onFault(fault: unknown): void;
  readonly everyMs?: number;
}

/** Sends heartbeats until stopped, and calls back when to drain; after a failed heartbeat comes the next. */
export function keepBeating(
  worker: AnnouncedWorker,
  { active, onDrain, onFault, everyMs = BEAT_MS }: Beating,
): { stop(): Promise<void> } {
  let isTold = false;
  let current: Promise<void> = Promise.resolve();
  const beat = async (): Promise<void> => {
    try {
      await worker.beat(active());
    } catch (fault) {
      onFault(fault);
    }
    if (!worker.isToDrain() || isTold) return;
    isTold = true;
    onDrain();
  };
  const timer = setInterval(() => {
    current = current.then(beat);
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await current;
      await worker.leave();
    },
  };
}

function keyOf(id: string) {
  return { tenant: SYSTEM_TENANT, kind: KIND, id };
}

function showWorker({ id, body: stored }: StoredRecord, now: number): ApiWorker | undefined {
  const body = fitShape(bodyShape, stored satisfies JsonObject);
  if (body === undefined) return undefined;
  const { host, version, slots, active, startedAt, seenAt, isToDrain } = body;
  return {
    id,
    host,
    version,
    slots,
    active,
    startedAt: new Date(startedAt).toISOString(),
    seenAt: new Date(seenAt).toISOString(),
    state: now - seenAt > SILENT_MS ? "silent" : isToDrain ? "draining" : "working",
  };
}
