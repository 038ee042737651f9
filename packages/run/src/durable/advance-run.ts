/**
 * What a worker does with a run it holds: continue where the journal ends, until the run has ended, waits for a person,
 * or must be given back.
 */
import { sayFault } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import { fitShape, recordShape, textShape } from "@metier/base/shape";
import {
  type AdvanceOutcome,
  type DurableRun,
  ENDED,
  type JournalEntry,
  type JournalStore,
  LeaseLostError,
  type RunLease,
  type SnapshotStore,
} from "@metier/durable";
import { type SavedChat, savedChatShape } from "../events/saved-chat.ts";
import { invokeAnywhere } from "../run/invoke-skill.ts";
import type { RunHost } from "../run/run-request.ts";
import { failedResult, type RunResult, refusedResult } from "../run/run-result.ts";
import { type Asking, makeDurable, newestFolder } from "./durable-run.ts";
import { takeDurableTurn } from "./durable-turn.ts";
import type { Leave } from "./parking.ts";
import { rememberUse } from "./remember-use.ts";
import { type RunOrder, readOrder, type TurnOrder, toChatOptions, toRequest } from "./run-order.ts";
import { openRunSteps, type RunSteps } from "./run-steps.ts";
import { watchCancel } from "./watch-cancel.ts";

export interface AdvanceOptions {
  readonly store: JournalStore;
  /** Absent: the work folder is still in place. */
  readonly snapshots?: SnapshotStore | undefined;
  /** How long a question waits for an answer; absent: forever. */
  readonly questionMs?: number | undefined;
}

export async function advanceRun(
  host: RunHost,
  lease: RunLease,
  { store, snapshots, questionMs }: AdvanceOptions,
): Promise<AdvanceOutcome> {
  const { runId: rootId, holder, term, lost, stopping } = lease;
  const held = { rootId, holder, term, lost, stopping };
  const run = await store.take(held);
  if (ENDED.has(run.status)) return { kind: "ended" };
  const order = readOrder(run.order);
  const steps = await openRunSteps({ store, lease: held, run, snapshots });
  const ended = new AbortController();
  let left: Leave | undefined;
  try {
    if (order === undefined) throw new Error(`The request of run \`${run.id}\` cannot be read.`);
    const signal = watchCancel(store, run, ended.signal);
    const asking = { waitMs: questionMs, always: order.approve === "every" };
    left =
      order.kind === "turn"
        ? await advanceTurn(host, order, { store, steps, asking, runId: run.id, signal })
        : await advanceSkill(host, order, { steps, asking, runId: run.id, signal });
  } catch (fault) {
    if (steps.lost.aborted) return stopUnrecorded(steps, lease);
    await steps.end(await rememberUse(describeHostFault(run, fault), steps));
  } finally {
    ended.abort();
  }
  return left === undefined ? { kind: "ended" } : giveBack(left, steps, lease);
}

/** Ends a run that can't continue at all, for example because its skill changed, and says why. */
export async function endUnrun(lease: RunLease, store: JournalStore, fault: Error): Promise<AdvanceOutcome> {
  const { runId: rootId, holder, term, lost, stopping } = lease;
  const held = { rootId, holder, term, lost, stopping };
  const run = await store.take(held);
  if (ENDED.has(run.status)) return { kind: "ended" };
  const steps = await openRunSteps({ store, lease: held, run });
  await steps.end(await rememberUse(describeHostFault(run, fault), steps));
  return { kind: "ended" };
}

interface Advance {
  readonly steps: RunSteps;
  readonly asking: Asking;
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** Why it left, unless it ended. */
async function advanceSkill(
  host: RunHost,
  order: RunOrder,
  { steps, asking, runId, signal }: Advance,
): Promise<Leave | undefined> {
  const durable = makeDurable(steps, asking);
  const request = { ...toRequest(order), signal };
  const outcome = await invokeAnywhere(request, host, { asked: "isolated", runId, durable });
  if (outcome.kind === "left") return outcome.why;
  if (outcome.kind === "refused") {
    await steps.end(await rememberUse(refusedResult(runId, outcome.refusal), steps));
  }
  return undefined;
}

const SAVED = "chat";

/** What a turn leaves for the next one: the session and its folder. */
interface SavedTurn {
  readonly saved: SavedChat;
  readonly folder?: string | undefined;
}

const savedTurnShape = recordShape<SavedTurn>({ saved: savedChatShape, folder: textShape }, ["folder"]);

/** Nothing, if it never reached its end. */
function readTurn(entries: readonly JournalEntry[]): SavedTurn | undefined {
  const entry = entries.find(({ key }) => key === SAVED);
  const turn = entry && fitShape(savedTurnShape, entry.value);
  if (entry && turn === undefined) throw new Error("The session cannot be read: its journal is damaged.");
  return turn;
}

async function advanceTurn(
  host: RunHost,
  order: TurnOrder,
  { store, steps, asking, runId, signal }: Advance & Pick<AdvanceOptions, "store">,
): Promise<Leave | undefined> {
  const before = order.previous === undefined ? [] : await store.entries(order.previous);
  const from = readTurn(before);
  const results = before.flatMap(({ key, value }) => (key.startsWith("result ") ? [value] : []));
  const folder = newestFolder(results) ?? from?.folder;
  const durable = makeDurable(steps, asking, folder);
  const options = { ...toChatOptions(order), from: from?.saved };
  const { turn, left, saved } = await takeDurableTurn(host, options, order.message, {
    runId,
    durable,
    signal,
  });
  if (left !== undefined) return left;
  const next: SavedTurn = { saved, folder };
  const value = JSON.parse(JSON.stringify(next)) as Json;
  // What the next turn starts with, and what is shown of this one.
  const snapshot = newestFolder(steps.all("result ")) ?? folder;
  await steps.end(turn, { key: SAVED, value, snapshot });
  return undefined;
}

async function giveBack(why: Leave, steps: RunSteps, lease: RunLease): Promise<AdvanceOutcome> {
  if (why === "lost") return stopUnrecorded(steps, lease);
  await steps.stand(why === "parked" ? "waiting" : "queued");
  return { kind: why };
}

/**
 * The run can't be recorded here any longer. If the lease is gone, another worker continues it. If the store failed (a
 * full disk), the error is thrown: the engine reports it and waits before it retries.
 */
function stopUnrecorded(steps: Pick<RunSteps, "lost">, lease: Pick<RunLease, "lost">): AdvanceOutcome {
  if (lease.lost.aborted || steps.lost.reason instanceof LeaseLostError) return { kind: "released" };
  throw steps.lost.reason ?? new Error("A run that this one started could not be recorded.");
}

/** An error of the host, not of the run: it isn't retried forever. */
function describeHostFault({ id, skill = "" }: DurableRun, fault: unknown): RunResult {
  const why = { code: "internal.fault", message: sayFault(fault), hint: "" };
  const subject = {
    skill: { name: skill },
    trust: { level: "untrusted", reason: "" },
    diagnostics: [],
  } as const;
  return failedResult(id, subject, why);
}
