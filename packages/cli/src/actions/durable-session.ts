/**
 * A durable run while this process advances it: a worker for this run alone, its screen, and its questions to the
 * person there. Ends when the run ends, when nobody can answer, or when the user gives the run back.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { ConfirmMutation } from "@metier/capabilities";
import type { AdvanceOutcome, DurableRun, Question, RunLease } from "@metier/durable";
import type { LocalDurability } from "@metier/durable/local";
import type { RunResult } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import type { Metier, MetierOptions } from "@metier/runtime";
import { type CliContext, listenTwice, out, STOPPING } from "../context.ts";
import { openRunScreen } from "../output/run-screen.ts";
import { type AnswerAll, answerInTerminal } from "./durable-answers.ts";
import { questionsFor } from "./run-request.ts";

interface SessionFlags {
  readonly json: boolean;
  readonly events: boolean;
  readonly quiet: boolean;
  /** Answers tool questions that were asked earlier. */
  readonly approve: boolean;
}

interface DurableSession {
  /** Options for the `Metier` that advances the run. */
  readonly options: MetierOptions;
  /** Resolves when the run has ended, waits for someone who isn't here, or is given back. */
  goOn(metier: Metier, runId: string): Promise<SessionEnd>;
}

export interface SessionEnd {
  /** The run's current state, with its result if it has ended. */
  readonly run: DurableRun;
  readonly questions: readonly Question[];
  /** The user gave it back. */
  readonly isInterrupted: boolean;
  /** The answer is already on the screen. */
  readonly isShown: boolean;
}

const LEASE_MS = 10_000;
/** How long a model call or tool may take to finish when the run is given back. */
const GRACE_MS = 3_000;
const MOST_QUESTIONS = 100;

/** Prints and asks nothing before the run continues: until then the terminal belongs to the caller. */
export function openSession(
  context: CliContext,
  flags: SessionFlags,
  local: LocalDurability,
): DurableSession {
  const { journal, engine, snapshots } = local;
  const live: Live = { onEvent: () => undefined };
  const canAsk = context.io.interactive && !flags.json && !flags.events;
  const confirm: ConfirmMutation = async (plan, signal) => (await live.confirm?.(plan, signal)) ?? "no";
  return {
    options: {
      ...{ journal, engine, snapshots },
      onEvent: (event) => live.onEvent(event),
      ...(canAsk && { capabilities: { confirm } }),
    },
    goOn: (metier, runId) => goOn(context, flags, { local, metier, runId }, live),
  };
}

/** The callbacks a `Metier` gets before there is a screen. */
interface Live {
  onEvent(event: RunEvent): void;
  confirm?: ConfirmMutation | undefined;
}

async function goOn(
  context: CliContext,
  flags: SessionFlags,
  parts: Pick<Advancing, "local" | "metier" | "runId">,
  live: Live,
): Promise<SessionEnd> {
  const { quiet, json, events } = flags;
  const { local, runId } = parts;
  const interrupted = Promise.withResolvers<"interrupted">();
  const stop = (): void => {
    screen.stopping();
    if (!json) screen.io.stderr.write(`${STOPPING}\n`);
    interrupted.resolve("interrupted");
  };
  const { interrupt, release } = listenTwice(context.io, stop, () => screen.close());
  const screen = openRunScreen(context.io, { quiet, silent: json || events, onInterrupt: interrupt });
  const beside = { ...context, io: screen.io };
  const ask = questionsFor(beside, { approve: false, json, events });
  live.confirm = ask.confirm;
  live.onEvent = (event) => {
    if (events) out(context, JSON.stringify(event));
    else screen.onEvent(event);
  };
  const answer = answerInTerminal(beside, { journal: local.journal, ask, approve: flags.approve });
  try {
    const why = await advance({ ...parts, answer, interrupted: interrupted.promise });
    const run = await local.journal.get(runId);
    if (run === undefined) throw new Error(`The run \`${runId}\` is missing from its journal.`);
    return {
      run,
      questions: await pendingQuestions(local, runId),
      isInterrupted: why === "interrupted",
      isShown: run.result !== undefined && screen.end(run.result as unknown as RunResult),
    };
  } finally {
    release();
    screen.close();
  }
}

interface Advancing {
  readonly local: LocalDurability;
  readonly metier: Metier;
  readonly runId: string;
  readonly answer: AnswerAll;
  readonly interrupted: Promise<"interrupted">;
}

type Why = "ended" | "waiting" | "interrupted";

async function advance(advancing: Advancing): Promise<Why> {
  const { local, runId, answer, interrupted } = advancing;
  const { engine } = local;
  const before = await pendingQuestions(local, runId);
  if (before.length > 0 && (await local.journal.get(runId))?.status === "waiting") {
    if (!(await answer(before))) return (await hasHappened(interrupted)) ? "interrupted" : "waiting";
    await engine.wake(runId);
  }
  const worker = startWorker(advancing);
  try {
    for (;;) {
      const outcome = await Promise.race([worker.next(), interrupted]);
      if (outcome === "ended" || outcome === "interrupted") return outcome;
      if (outcome !== "parked") continue; // It lost its lease, and is claimed again.
      if (!(await answer(await pendingQuestions(local, runId)))) {
        return (await hasHappened(interrupted)) ? "interrupted" : "waiting";
      }
      await engine.wake(runId);
    }
  } finally {
    await worker.stop();
  }
}

interface SoleWorker {
  /** The outcome of the next time the run is advanced. Rejects on a store fault. */
  next(): Promise<AdvanceOutcome["kind"]>;
  stop(): Promise<void>;
}

/** It was dropped in the middle of a call and couldn't report that: it waits for the next worker. */
async function giveBack({ journal }: LocalDurability, held: RunLease | undefined): Promise<void> {
  if (held === undefined) return;
  const { runId, holder, term } = held;
  if ((await journal.get(runId))?.status !== "running") return;
  await journal.write({ rootId: runId, holder, term }, { runId, status: "queued" });
}

function startWorker({ local, metier }: Advancing): SoleWorker {
  let held: RunLease | undefined;
  const outcomes: AdvanceOutcome["kind"][] = [];
  let heard = Promise.withResolvers<void>();
  let working: Promise<unknown> = Promise.resolve();
  const worker = local.engine.work({
    slots: 1,
    leaseMs: LEASE_MS,
    async advance(lease) {
      held = lease;
      const advanced = metier.durable.advance(lease);
      working = advanced.catch(() => undefined); // The engine reports it.
      const outcome = await advanced;
      outcomes.push(outcome.kind);
      heard.resolve();
      return outcome;
    },
    onFault: (fault) => heard.reject(fault),
  });
  return {
    async next() {
      while (outcomes.length === 0) {
        await heard.promise;
        heard = Promise.withResolvers();
      }
      return outcomes.shift() ?? "released";
    },
    async stop() {
      heard.promise.catch(() => undefined); // Nobody waits any more.
      await worker.stop(GRACE_MS);
      // A dropped run ends what it started before its journal is closed.
      await Promise.race([working, wait(GRACE_MS, undefined, { ref: false })]);
      await giveBack(local, held);
    },
  };
}

async function hasHappened(interrupted: Promise<"interrupted">): Promise<boolean> {
  return (await Promise.race([interrupted, Promise.resolve("not yet")])) === "interrupted";
}

async function pendingQuestions({ journal }: LocalDurability, rootId: string): Promise<readonly Question[]> {
  return journal.questions({ rootId, status: "pending", limit: MOST_QUESTIONS });
}
