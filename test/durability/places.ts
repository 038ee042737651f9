/**
 * Where the runs of the durability suite are kept, and the machines that advance them: one home whose files belong to one
 * process, or a database and an object store that workers with homes of their own share.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  type DurableRun,
  forAllTenants,
  type JournalEntry,
  type JournalStore,
  type SnapshotStore,
} from "@metier/durable";
import { openSqliteReader } from "@metier/durable/sqlite";
import { onTestFinished } from "vitest";
import { type Cluster, makeDatabase, startCluster } from "../../scripts/postgres/cluster.mjs";
import { startObjectStore } from "../../scripts/postgres/object-store.mjs";
import { startCutProxy } from "../support/cut-proxy.ts";
import { MASTER_KEY } from "../support/shared-places.ts";
import { temporaryFolder } from "../support/temporary.ts";
import type { World } from "../support/world.ts";

/** A look at what all runs left. */
export interface Left {
  readonly journal: Pick<JournalStore, "list" | "events">;
  /** A folder that holds what the run's work folder held at its end. */
  folderOf(run: DurableRun): Promise<string>;
}

export interface Place {
  /** How many work at the same time. */
  readonly workers: number;
  /** What a worker's process needs of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** The home of the next worker, which nobody uses now; and to give it back. */
  takeHome(random: number): string;
  leaveHome(home: string): void;
  /** What happens to the store itself, one after the other, while workers are killed. */
  readonly troubles: readonly (() => Promise<void>)[];
  look<Value>(act: (left: Left) => Promise<Value>): Promise<Value>;
}

/** One machine, whose process is killed and started again. */
export function oneHome({ home }: World): Place {
  return {
    workers: 1,
    environment: {},
    takeHome: () => home,
    leaveHome: () => undefined,
    troubles: [],
    async look(act) {
      const reader = openSqliteReader({ file: join(home, ".metier", "state", "service", "journal.db") });
      if (!reader.ok) throw new Error(reader.refusal.message);
      const folderOf = async ({ id }: DurableRun): Promise<string> => workIn(home, id);
      try {
        return await act({ journal: reader.value.journal, folderOf });
      } finally {
        reader.value.close();
      }
    },
  };
}

function workIn(home: string, runId: string): string {
  return join(home, ".metier", "state", "runs", runId, "work");
}

const MOST_RUNS = 100_000;
const DATABASE = "durability";
const CUT_MS = 10_000;
/** A killed machine comes back with its disk as often as this; mostly, a new one takes its place. */
const COMES_BACK = 0.3;

/** Machines on a Postgres of their own, which is restarted and cut off on the way, and on one object store. */
export async function manyHomes(world: World, workers: number): Promise<Place> {
  const postgres = await startOwnPostgres();
  const objects = await startObjectStore({ folder: temporaryFolder() });
  onTestFinished(() => objects.stop());
  const environment = {
    ...objects.environment,
    METIER_MASTER_KEY: MASTER_KEY,
    METIER_DATABASE_URL: postgres.url,
    METIER_DATABASE_ADMIN_URL: postgres.adminUrl,
    METIER_OBJECT_STORE: objects.url,
  };
  return {
    workers,
    environment,
    ...machines(world),
    troubles: postgres.troubles,
    async look(act) {
      const { openShared } = await import("@metier/durable/postgres");
      const shared = await openShared({
        databaseUrl: postgres.url,
        objectStore: objects.url,
        environment,
      });
      if (!shared.ok) throw new Error(shared.refusal.message);
      const { journal, snapshots, close } = shared.value;
      try {
        return await forAllTenants(async () => {
          const all = await journal.list({ limit: MOST_RUNS });
          return act({ journal, folderOf: (run) => restore({ journal, snapshots, all }, run) });
        });
      } finally {
        await close();
      }
    },
  };
}

/** New machines have the skills and the config of the first one, and nothing else. */
function machines({ root, home }: World): Pick<Place, "takeHome" | "leaveHome"> {
  const idle: string[] = [];
  let made = 0;
  return {
    takeHome(random) {
      const old = random < COMES_BACK ? idle.shift() : undefined;
      if (old !== undefined) return old;
      made += 1;
      const place = join(root, "machines", String(made));
      cpSync(join(home, ".metier"), join(place, ".metier"), { recursive: true });
      return place;
    },
    leaveHome: (place) => void idle.push(place),
  };
}

/** What a call or a hook left. */
interface KeptEntry {
  readonly value: { readonly folder?: string };
}

interface Kept {
  readonly journal: Pick<JournalStore, "entries" | "lastSnapshot">;
  readonly snapshots: Pick<SnapshotStore, "restore">;
  readonly all: readonly DurableRun[];
}

/** As `GET /v1/runs/{id}/files` does it: what the journal says about the folder decides, not a disk. */
async function restore({ journal, snapshots, all }: Kept, run: DurableRun): Promise<string> {
  const folder = temporaryFolder();
  // The turns of a conversation work in the folder of its first one.
  if (typeof run.order.previous === "string") return folder;
  const turns = run.skill === undefined ? turnsFrom(run, all) : [run];
  const name = await (run.parentId === undefined
    ? journal.lastSnapshot(turns.at(-1)?.id ?? run.id)
    : lastFolder(await journal.entries(run.id)));
  if (name !== undefined) await snapshots.restore(name, folder, { tenant: run.tenant });
  return folder;
}

/** A run that another one started has no snapshot of its own in the API. */
function lastFolder(entries: readonly JournalEntry[]): string | undefined {
  const kept = entries.filter(({ key }) => /^(result|stop) /.test(key)) as readonly KeptEntry[];
  return kept.findLast(({ value: { folder } }) => folder !== undefined)?.value.folder;
}

function turnsFrom(first: DurableRun, all: readonly DurableRun[]): readonly DurableRun[] {
  const turns = [first];
  for (;;) {
    const last = turns.at(-1);
    const next = all.find(({ order }) => order.previous === last?.id);
    if (next === undefined) return turns;
    turns.push(next);
  }
}

interface OwnPostgres extends Pick<Place, "troubles"> {
  readonly url: string;
  readonly adminUrl: string;
}

/** Stopped in both ways in turns, five times, and once out of reach in the middle. */
async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = temporaryFolder();
  // What is committed is in the log of the database before anybody is told so, as everywhere but in quick tests.
  const settings = { synchronous_commit: "on", max_connections: 200 };
  let cluster: Cluster = await startCluster({ folder, settings });
  onTestFinished(() => cluster.stop("SIGQUIT"));
  const { port } = cluster;
  const proxy = await startCutProxy(port);
  makeDatabase(cluster, DATABASE);
  const restart = async (signal: "SIGINT" | "SIGQUIT"): Promise<void> => {
    await cluster.stop(signal);
    await wait(500);
    cluster = await startCluster({ folder, settings, port });
  };
  const throughProxy = (url: string): string => url.replace(`:${port}/`, `:${proxy.port}/`);
  const { url, adminUrl } = cluster.urls(DATABASE);
  return {
    url: throughProxy(url),
    adminUrl: throughProxy(adminUrl),
    troubles: [
      () => restart("SIGINT"),
      () => restart("SIGQUIT"),
      () => proxy.cut(CUT_MS),
      () => restart("SIGINT"),
      () => restart("SIGQUIT"),
      () => restart("SIGINT"),
    ],
  };
}
