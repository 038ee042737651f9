/**
 * The call of a durable run that acts now, or the `stop` hook: what it asks for outside is recorded before it is done, so that
 * whoever takes up the run later knows whether it may begin again. A change that a capability makes has an entry of its own
 * (`change`, and `changed` with what came of it), since it can be repeated under its idempotency key, or answered from the
 * journal; anything else outside is `acted`, and can not.
 */
import type { Json } from "@metier/base/json";
import type { RunEventBody } from "../events/run-event.ts";
import type { DurableRunParts } from "./durable-run.ts";
import type { RunSteps } from "./run-steps.ts";

export interface ActingCall {
  /** As the journal names it. */
  readonly name: string;
  /** Changes that this execution of it has asked for: how often, by their digest. */
  readonly asked: Map<string, number>;
  /** What has begun to make changes, until it is over. */
  readonly underWay: Set<Promise<unknown>>;
  /** Changes that were begun, and of which nobody knows what came of them. */
  readonly doubtful: Set<string>;
  /** Absent: it cannot wait for a person, as a hook at the end of a run. */
  readonly waiting?: CallWaiting | undefined;
  /** That it asked for something outside is recorded, or being recorded. */
  acted?: Promise<void> | undefined;
}

/** How a call that is under way comes to wait for a person: it is ended, and begins again after the answer. */
export interface CallWaiting {
  readonly step: number;
  readonly callId: string;
  /** It may have done what cannot be undone, whatever the journal says. */
  readonly isFinal: boolean;
  /** From here on it gets nothing done. */
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

/** Something outside is asked for by the call that is being carried out: recorded before it is. */
export async function recordActing({ acting, steps }: DurableRunParts): Promise<void> {
  if (acting === undefined) return;
  requireGoingOn(acting);
  acting.acted ??= recordOnce(steps, `acted ${acting.name}`, true);
  await acting.acted; // Whoever asks at the same time waits for the same write.
}

/** What a call that waits for a person asks for meanwhile, it asks for again when it begins again. */
export function requireGoingOn({ waiting }: ActingCall): void {
  if (waiting?.isEnding) throw new Error("The call waits for a person.");
}

/** A host that is reached for the first time: the result of the run names it, whichever process ends the run. */
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
  /** The call that asked for it. */
  readonly call: string;
  readonly id: string;
  /** Such as `gog.mail send`. */
  readonly what: string;
  /** The provider promises that the same key changes nothing a second time. */
  readonly isIdempotent: boolean;
}

export function changesOf(steps: RunSteps, call: string): readonly ChangeRecord[] {
  const all = steps.all("change ") as unknown as readonly ChangeRecord[];
  return all.filter((change) => change.call === call);
}

/** Whether nobody can know what this call did outside: then it may not begin again. */
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

/** Whether the call was ended to wait for a person, however often. */
export function hasWaited(steps: RunSteps, call: string): boolean {
  return waitsOf(steps, call).length > 0;
}

/** Whether nobody has answered yet: then there is no use in beginning the call again. */
export async function isStillWaiting(steps: RunSteps, call: string): Promise<boolean> {
  const last = waitsOf(steps, call).at(-1);
  return last !== undefined && (await steps.asked(last.key))?.status === "pending";
}
