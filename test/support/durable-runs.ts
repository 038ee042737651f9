/** Durable runs in a test: a journal and an engine in the world's home, and as many processes over them as a test wants. */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { DurableRun, Question, RunEngine } from "@metier/durable";
import { openSqliteEngine, openSqliteStore, type SqliteStore } from "@metier/durable/sqlite";
import type { RunEvent } from "@metier/run/events";
import { createScriptModel, type Script } from "@metier/run/model";
import type { Metier, MetierOptions } from "@metier/runtime";
import { expect, onTestFinished } from "vitest";
import type { World } from "./world.ts";

export interface Durable {
  readonly store: SqliteStore;
  readonly engine: RunEngine;
  /** Another process's `Metier`, as far as a test can have one: nothing but the files is shared. */
  open(options?: MetierOptions): Promise<Metier>;
}

export function openDurable(world: World, script: Script): Durable {
  const file = join(world.home, "journal.db");
  const store = openSqliteStore({ file });
  const engine = openSqliteEngine({ file });
  if (!store.ok || !engine.ok) throw new Error("SQLite cannot be opened");
  const model = createScriptModel(script);
  onTestFinished(async () => {
    await engine.value.close();
    store.value.close();
    model.assertDone();
  });
  return {
    store: store.value,
    engine: engine.value,
    open: (options = {}) =>
      world.metier({
        models: { default: model },
        journal: store.value.journal,
        engine: engine.value,
        ...options,
      }),
  };
}

/** A command that leaves a file in the work folder. */
export function write(name: string): string {
  return `echo ${name} >> "$METIER_WORK_DIR/${name}"`;
}

/** Works until the run stands so; one that waits has a question that nobody has answered. */
export async function workUntil(
  metier: Metier,
  runId: string,
  ...status: DurableRun["status"][]
): Promise<DurableRun> {
  return workAs({}, metier, runId, ...status);
}

/** The same with more options of the worker. */
export async function workAs(
  options: Parameters<Metier["durable"]["work"]>[0],
  metier: Metier,
  runId: string,
  ...status: DurableRun["status"][]
): Promise<DurableRun> {
  const worker = metier.durable.work({ slots: 2, leaseMs: 5000, ...options });
  try {
    for (;;) {
      const run = await metier.durable.get(runId);
      const isAsking = run?.status !== "waiting" || (await metier.durable.questions()).length > 0;
      if (run && status.includes(run.status) && isAsking) return run;
      await wait(20);
    }
  } finally {
    await worker.stop(5000);
  }
}

export async function onlyQuestion(metier: Metier): Promise<Question> {
  const [question, ...others] = await metier.durable.questions();
  if (question === undefined || others.length > 0) throw new Error(`${others.length + 1} questions`);
  return question;
}

export async function journaledEvents({ store }: Durable, runId: string): Promise<readonly RunEvent[]> {
  const events = await store.journal.events(runId, 0, 10_000);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  return events.map(({ event }) => event as unknown as RunEvent);
}
