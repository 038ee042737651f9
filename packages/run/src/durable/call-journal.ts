/**
 * One tool call of a durable run in its journal: that it begins (intent) where that alone matters, what it asked for outside
 * (`acting-call.ts`), and what it answered (result). A call with a result is never carried out again. One that was begun and
 * not ended is carried out again only if it cannot have acted outside, or if all it did there is known or can be repeated under
 * its key: what it did to the work folder was undone when the run was taken up.
 */
import type { Json } from "@metier/base/json";
import { isInside } from "@metier/base/places";
import type { SnapshotRefusal } from "@metier/durable";
import { accessTo } from "@metier/sandbox";
import { type LiveRun, reportOnce } from "../run/live-run.ts";
import { programTools } from "../run/run-request.ts";
import type { RunResult } from "../run/run-result.ts";
import { fault, type Tool, type ToolInput, type ToolOutput } from "../tools/tool.ts";
import { beginActing, type CallWaiting, hasWaited, isInDoubt, isStillWaiting } from "./acting-call.ts";
import { type DurableRunParts, describeMemory, type MemoryRecord, undoChanges } from "./durable-run.ts";
import type { Spent } from "./journal-model.ts";

export interface CallJournal {
  /** What it answered, when it was carried out before; what it meant for the run counts again. */
  recorded(): ToolOutput | undefined;
  /** The answer for a call that another process began and that may have acted. */
  doubt(): ToolOutput | undefined;
  /** It waited, for a person or for a run that it started: that it was called has been said. */
  isTold(): boolean;
  /** Its turn has come: what is asked for outside from here on is asked for by it, or by its hooks. */
  enter(): void;
  /** Just before it is carried out. */
  begin(): Promise<void>;
  /** Aborted when it has to wait for a person while it is under way: it is ended then, and begins again after the answer. */
  readonly stop: AbortSignal;
  /** Whether it has to, also if it ended by itself meanwhile. */
  isEnding(): boolean;
  /** Another process ended it for that, and there is no answer yet. */
  isStillWaiting(): Promise<boolean>;
  /** Its turn is over, whatever came of it. What one that waits has done to the work folder is undone first. */
  leave(): Promise<void>;
  /** `finish` says the last event of the call, which is written with its result or not at all; gives the answer. */
  end(finish: () => ToolOutput): Promise<ToolOutput>;
}

interface ResultRecord {
  readonly output: ToolOutput;
  readonly denied?: RunResult["denied"][number] | undefined;
  readonly memory: MemoryRecord;
  /** Of the run that it started. */
  readonly spent?: Spent | undefined;
  /** The snapshot of the work folder after it. */
  readonly folder?: string | undefined;
}

interface JournaledCall {
  readonly callId: string;
  readonly tool: Tool;
  readonly input: ToolInput;
}

export function openCallJournal(call: JournaledCall, live: LiveRun, durable: DurableRunParts): CallJournal {
  const { steps } = durable;
  const { tool, input } = call;
  const { context } = live;
  const name = callName(durable, call.callId);
  const denied = live.denied.length;
  const waiting = openWaiting(call, live, durable);
  let hasEntered = false;
  return {
    recorded() {
      const record = steps.find(`result ${name}`) as unknown as ResultRecord | undefined;
      if (record === undefined) return undefined;
      if (record.denied) live.denied.push(record.denied);
      else if (!record.output.isError) live.used.note(tool, input, context.place.world);
      if (record.spent) context.budget.add(record.spent.usage, record.spent.cost);
      return record.output;
    },
    doubt() {
      const isBegun = steps.find(`intent ${name}`) !== undefined;
      if (!isInDoubt(steps, name) && !(isBegun && mayHaveActed(tool, live))) return undefined;
      return fault(
        `The outcome of this call of \`${tool.name}\` is unknown: the process that carried it out ended before it answered, and it may have acted. It was not repeated. Find out what it did before you call it again.`,
      );
    },
    isTold: () =>
      hasWaited(steps, name) || (steps.find(`intent ${name}`) !== undefined && !takesTurn(tool, live)),
    enter() {
      hasEntered = true;
      if (takesTurn(tool, live)) durable.acting = beginActing(name, waiting);
    },
    async begin() {
      // Asked for of those alone that may not begin again, or that wait and are told of once.
      const matters = mayHaveActed(tool, live) || tool.effect === "talk" || tool.effect === "skill";
      if (!matters || steps.find(`intent ${name}`) !== undefined) return;
      await steps.record(`intent ${name}`, { tool: tool.name });
    },
    stop: waiting.stop.signal,
    isEnding: () => waiting.isEnding,
    isStillWaiting: () => isStillWaiting(steps, name),
    leave: () => leaveTurn(waiting, live, durable),
    async end(finish) {
      const mayHaveChanged = hasEntered && (takesTurn(tool, live) || context.hooks.length > 0);
      const kept = mayHaveChanged ? await steps.keepFolder(context.place.world.workDir) : undefined;
      if (kept?.ok === false) reportUnkept(live, kept.refusal);
      const output = finish(); // From here to the record nothing else gets a turn.
      const record: ResultRecord = {
        output,
        denied: live.denied.slice(denied).find((entry) => entry.tool === tool.name),
        memory: describeMemory(context.memory),
        spent: durable.spent.get(call.callId),
        folder: kept?.ok ? kept.value : undefined,
      };
      durable.spent.delete(call.callId); // A later step may have a call of the same name.
      await steps.record(`result ${name}`, JSON.parse(JSON.stringify(record)) as Json, record.folder);
      return output;
    },
  };
}

function openWaiting({ callId, tool }: JournaledCall, live: LiveRun, { step }: DurableRunParts): CallWaiting {
  const stop = new AbortController();
  const ended = Promise.withResolvers<void>();
  const isFinal = mayHaveActed(tool, live);
  const { recorder } = live.context;
  return { step, callId, isFinal, isEnding: false, stop, ended, tell: (event) => void recorder.emit(event) };
}

async function leaveTurn(
  waiting: CallWaiting,
  { context }: LiveRun,
  durable: DurableRunParts,
): Promise<void> {
  if (durable.acting?.waiting === waiting) durable.acting = undefined;
  // A run that leaves is given its folder where it is taken up.
  if (waiting.isEnding && durable.parking.leave === undefined) {
    const undoing = undoChanges(durable, context.place.world.workDir);
    await undoing.catch(() => durable.parking.go("released")); // There it is tried again, and its fault told.
  }
  waiting.ended.resolve();
}

/**
 * The run goes on; should its process end, its folder is what the last snapshot has. One that has used up all the room there is
 * for it ends instead: it would be given a little less of its work at each interruption, and take the room of others.
 */
function reportUnkept(live: LiveRun, { message: why, hint = "", isFull }: SnapshotRefusal): void {
  const { redactor } = live.context;
  if (isFull) live.stop.fail("run.storage-full", redactor.redact(`${why} ${hint}`));
  else {
    const message = `The work folder is not kept from here on: ${redactor.redact(why)}`;
    reportOnce(live, "unkept", "run.folder-not-kept", message);
  }
}

/** Providers number their calls as they like: only together with the step it is one of a kind. */
export function callName({ step }: Pick<DurableRunParts, "step">, callId: string): string {
  return `${step} ${callId}`;
}

/**
 * Calls that change the work folder, or anything else, are made one after the other, so that each has a snapshot. Hooks may
 * change it at any call. One that waits for a person, or for another run, holds up no other.
 */
export function takesTurn({ name, effect }: Tool, { context }: LiveRun): boolean {
  if (effect === "talk" || effect === "skill") return false;
  if (effect === "write" || effect === "execute" || context.hooks.length > 0) return true;
  return effect === "network" && isProgramTool(name, context);
}

function mayHaveActed({ name, effect }: Tool, { context }: LiveRun): boolean {
  if (isProgramTool(name, context)) return effect !== "read";
  if (effect !== "write" && effect !== "execute") return false; // Reading again does no harm; a child has a journal.
  const { cwd, workDir } = context.place.world;
  // What was written to the user's own folder cannot be undone.
  return !isInside(cwd, workDir) && accessTo(context.place.world, cwd) === "write";
}

function isProgramTool(name: string, { host, request }: LiveRun["context"]): boolean {
  return programTools(host, request).some((tool) => tool.name === name);
}
