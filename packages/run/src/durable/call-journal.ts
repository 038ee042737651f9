/**
 * One tool call of a durable run in its journal: its start (intent), if that alone matters, what it requested outside
 * (`acting-call.ts`), and its result. A call with a result is never repeated. A call that started but didn't end is
 * repeated only if it can't have acted outside, or if everything it did there is known or repeatable under its key; its
 * changes to the work folder were undone when the run was resumed.
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
  /** Its result, if it was carried out before; its effects on the run apply again. */
  recorded(): ToolOutput | undefined;
  /** The answer for a call that another process started and that may have acted. */
  doubt(): ToolOutput | undefined;
  /** It waited for a person or a run it started, so its call event was already sent. */
  isTold(): boolean;
  /** Its turn has come: from here on, outside requests come from it or its hooks. */
  enter(): void;
  /** Just before it is carried out. */
  begin(): Promise<void>;
  /** Aborted if it must wait for a person while it runs: it is ended, and starts over after the answer. */
  readonly stop: AbortSignal;
  /** Whether it must, even if it ended on its own in the meantime. */
  isEnding(): boolean;
  /** Another process ended it for that, and there is no answer yet. */
  isStillWaiting(): Promise<boolean>;
  /** Its turn is over, whatever the outcome. If it waits, its changes to the work folder are undone first. */
  leave(): Promise<void>;
  /**
   * `finish` emits the call's last event, which is written together with its result or not at all; returns the result.
   */
  end(finish: () => ToolOutput): Promise<ToolOutput>;
}

interface ResultRecord {
  readonly output: ToolOutput;
  readonly denied?: RunResult["denied"][number] | undefined;
  readonly memory: MemoryRecord;
  /** Of the run it started. */
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
        `The outcome of this \`${tool.name}\` call is unknown: its process ended before it answered, and it may have acted. It was not repeated. Find out what it did before you call it again.`,
      );
    },
    isTold: () =>
      hasWaited(steps, name) || (steps.find(`intent ${name}`) !== undefined && !takesTurn(tool, live)),
    enter() {
      hasEntered = true;
      if (takesTurn(tool, live)) durable.acting = beginActing(name, waiting);
    },
    async begin() {
      // Only recorded for calls that must not start over, or that wait and are announced once.
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
      const output = finish(); // From here to the record, nothing else gets a turn.
      const record: ResultRecord = {
        output,
        denied: live.denied.slice(denied).find((entry) => entry.tool === tool.name),
        memory: describeMemory(context.memory),
        spent: durable.spent.get(call.callId),
        folder: kept?.ok ? kept.value : undefined,
      };
      durable.spent.delete(call.callId); // A later step may have a call with the same name.
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
  // A run that leaves gets its folder back where it is resumed.
  if (waiting.isEnding && durable.parking.leave === undefined) {
    const undoing = undoChanges(durable, context.place.world.workDir);
    await undoing.catch(() => durable.parking.go("released")); // It is retried there, and its error reported.
  }
  waiting.ended.resolve();
}

/**
 * The run continues; if its process ends, it resumes from the last snapshot. A run that has used all its storage ends
 * instead: it would lose more of its work at each interruption, and take storage from others.
 */
function reportUnkept(live: LiveRun, { message: why, hint = "", isFull }: SnapshotRefusal): void {
  const { redactor } = live.context;
  if (isFull) live.stop.fail("run.storage-full", redactor.redact(`${why} ${hint}`));
  else {
    const message = `The work folder is no longer kept: ${redactor.redact(why)}`;
    reportOnce(live, "unkept", "run.folder-not-kept", message);
  }
}

/** Providers number calls as they like: only the step makes the name unique. */
export function callName({ step }: Pick<DurableRunParts, "step">, callId: string): string {
  return `${step} ${callId}`;
}

/**
 * Calls that change the work folder, or anything else, run one after another, so that each has a snapshot. Hooks may
 * change it in any call. A call that waits for a person or another run blocks no other.
 */
export function takesTurn({ name, effect }: Tool, { context }: LiveRun): boolean {
  if (effect === "talk" || effect === "skill") return false;
  if (effect === "write" || effect === "execute" || context.hooks.length > 0) return true;
  return effect === "network" && isProgramTool(name, context);
}

function mayHaveActed({ name, effect }: Tool, { context }: LiveRun): boolean {
  if (isProgramTool(name, context)) return effect !== "read";
  if (effect !== "write" && effect !== "execute") return false; // Reading again is harmless; a child has its own journal.
  const { cwd, workDir } = context.place.world;
  // Writes to the user's own folder can't be undone.
  return !isInside(cwd, workDir) && accessTo(context.place.world, cwd) === "write";
}

function isProgramTool(name: string, { host, request }: LiveRun["context"]): boolean {
  return programTools(host, request).some((tool) => tool.name === name);
}
