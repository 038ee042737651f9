/**
 * The call (or `stop` hook) of a durable run that is acting now. What it requests outside is recorded before it is
 * done, so that whoever resumes the run knows whether the call may start over. A capability's change has its own
 * entries (`change`, and `changed` with the outcome), because it can be repeated under its idempotency key or answered
 * from the journal; anything else outside is `acted`, and can't be repeated.
 */
import type { Json } from "@metier/base/json";
import type { RunEventBody } from "../events/run-event.ts";
import type { DurableRunParts } from "./durable-run.ts";
import type { RunSteps } from "./run-steps.ts";

export interface ActingCall {
  /** Its name in the journal. */
  readonly name: string;
  /** Changes requested in this execution: how often, by digest. */
  readonly asked: Map<string, number>;
  /** Changes in progress. */
  readonly underWay: Set<Promise<unknown>>;
  /** Changes that were started and whose outcome is unknown. */
  readonly doubtful: Set<string>;
  /** Absent: it can't wait for a person, such as a hook at the end of a run. */
  readonly waiting?: CallWaiting | undefined;
  /** Set once it is recorded, or being recorded, that it requested something outside. */
  acted?: Promise<void> | undefined;
}

/** How a call in progress comes to wait for a person: it is ended, and starts over after the answer. */
export interface CallWaiting {
  readonly step: number;
  readonly callId: string;
  /** It may have done something irreversible, whatever the journal says. */
  readonly isFinal: boolean;
  /** From here on, its requests are refused. */
  isEnding: boolean;
  /** Aborted to end it. */
  readonly stop: AbortController;
  /** It has ended, and nothing of it is left. */
  readonly ended: PromiseWithResolvers<void>;
  tell(event: RunEventBody): void;
}

export function beginActing(name: string, waiting?: CallWaiting): ActingCall {
  return { name, waiting, asked: new Map(), underWay: new Set(), doubtful: new Set() };
}

/** The current call requests something outside: recorded before it is done. */
export async function recordActing({ acting, steps }: DurableRunParts): Promise<void> {
  if (acting === undefined) return;
  requireGoingOn(acting);
  acting.acted ??= recordOnce(steps, `acted ${acting.name}`, true);
  await acting.acted; // Concurrent requests wait for the same write.
}

/** Whatever a waiting call requests in the meantime, it requests again when it starts over. */
export function requireGoingOn({ waiting }: ActingCall): void {
  if (waiting?.isEnding) throw new Error("The call is waiting for a person.");
}

/** A host reached for the first time: the run's result names it, whichever process ends the run. */
export async function recordReach(durable: DurableRunParts, host: string): Promise<void> {
  await recordActing(durable);
  if (durable.reached.has(host)) return;
  durable.reached.add(host);
  await durable.steps.record(`reached ${host}`, host);
}

export async function recordOnce(steps: RunSteps, key: string, value: Json): Promise<void> {
  if (steps.find(key) === undefined) await steps.record(key, value);
}

/** A change that was about to be made. */
export interface ChangeRecord {
  /** The call that requested it. */
  readonly call: string;
  readonly id: string;
  /** Such as `gog.mail send`. */
  readonly what: string;
  /** The provider promises that repeating the key changes nothing. */
  readonly isIdempotent: boolean;
}

export function changesOf(steps: RunSteps, call: string): readonly ChangeRecord[] {
  const all = steps.all("change ") as unknown as readonly ChangeRecord[];
  return all.filter((change) => change.call === call);
}

/** Whether it is unknowable what this call did outside: then it must not start over. */
export function isInDoubt(steps: RunSteps, call: string): boolean {
  if (steps.find(`acted ${call}`) !== undefined) return true;
  return changesOf(steps, call).some(
    ({ id, isIdempotent }) => !isIdempotent && steps.find(`changed ${call} ${id}`) === undefined,
  );
}

/** A call was ended to wait for this question. */
interface WaitRecord {
  readonly call: string;
  /** Of the change. */
  readonly id: string;
  /** Of the question. */
  readonly key: string;
}

export function waitsOf(steps: RunSteps, call: string): readonly WaitRecord[] {
  const all = steps.all("waits ") as unknown as readonly WaitRecord[];
  return all.filter((record) => record.call === call);
}

/** Whether the call was ever ended to wait for a person. */
export function hasWaited(steps: RunSteps, call: string): boolean {
  return waitsOf(steps, call).length > 0;
}

/** Whether nobody has answered yet: then starting the call over is pointless. */
export async function isStillWaiting(steps: RunSteps, call: string): Promise<boolean> {
  const last = waitsOf(steps, call).at(-1);
  return last !== undefined && (await steps.asked(last.key))?.status === "pending";
}
