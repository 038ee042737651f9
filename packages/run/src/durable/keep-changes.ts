/**
 * Changes that a durable run's commands request from capabilities: each is made once, however often its call starts
 * over. Its key is derived from run, call, operation, account and input; its outcome is answered from the journal. If
 * nobody is there to confirm, the question is stored as a row: the call is ended, the run parks, and after the answer
 * the call starts over.
 */
import { digestBytes } from "@metier/base/digest";
import { canonicalText, type Json, type JsonObject, presentFields } from "@metier/base/json";
import type {
  Answer,
  AskedChange,
  CapabilityCode,
  CapabilityFault,
  Confirmed,
  KeepChange,
  KeptChange,
} from "@metier/capabilities";
import type { Question } from "@metier/durable";
import type { Redactor } from "@metier/sandbox/secrets";
import {
  type ActingCall,
  type CallWaiting,
  type ChangeRecord,
  changesOf,
  isInDoubt,
  recordOnce,
  requireGoingOn,
  waitsOf,
} from "./acting-call.ts";
import { askOnce, explainAnswer } from "./durable-questions.ts";
import type { DurableRunParts } from "./durable-run.ts";

interface Keeping {
  readonly durable: DurableRunParts;
  readonly runId: string;
  readonly redactor: Pick<Redactor, "redactJson">;
}

/** One change in one execution of its call. */
interface OpenChange extends Keeping {
  readonly change: AskedChange;
  readonly acting: ActingCall;
  /** The same whenever the call requests the same change again; a second time in one execution is another change. */
  readonly id: string;
  /** The request, until it is done. */
  readonly invoking: Promise<void>;
}

/** For one request of a command; `end`: it is done, whatever the outcome. */
export function keepChange(keeping: Keeping): { readonly keep: KeepChange; end(): void } {
  const { durable } = keeping;
  const { promise: invoking, resolve } = Promise.withResolvers<void>();
  let open: OpenChange | undefined;
  const keep: KeepChange = async (change) => {
    const { acting, steps } = durable;
    if (acting === undefined) return asItIs(change);
    if (acting.waiting?.isEnding) return { ok: false, fault: pending(change) };
    const id = nameChange(change, acting);
    const known = steps.find(`changed ${acting.name} ${id}`) as unknown as Answer<JsonObject> | undefined;
    if (known !== undefined) return known;
    const earlier = recallKeyed(change, durable);
    if (earlier !== undefined) return earlier;
    open = { ...keeping, change, acting, id, invoking };
    return keepOne(open);
  };
  return {
    keep,
    end() {
      if (open && isUnknown(open)) open.acting.doubtful.add(open.id);
      resolve();
    },
  };
}

/**
 * What an earlier call of the run requested under the same key of its own, on any machine: a machine only remembers its
 * own calls. `undefined`: nothing, or it failed and may be retried.
 */
function recallKeyed(
  change: AskedChange,
  { steps, acting }: DurableRunParts,
): Answer<JsonObject> | undefined {
  if (change.idempotencyKey === undefined) return undefined;
  const all = steps.all("change ") as unknown as readonly ChangeRecord[];
  const same = all.filter(
    ({ call, id }) => call !== acting?.name && id.startsWith(`${digestChange(change)}-`),
  );
  const answers = same.map(
    ({ call, id }) => steps.find(`changed ${call} ${id}`) as unknown as Answer<JsonObject> | undefined,
  );
  const made = answers.find((answer) => answer?.ok);
  if (made !== undefined) return made;
  const isUnknown = answers.includes(undefined) && !change.operation.idempotent;
  return isUnknown ? { ok: false, fault: unknownBefore(change) } : undefined;
}

function unknownBefore(change: AskedChange): CapabilityFault {
  return tellFault(
    "capability_outcome_unknown",
    `${nameOf(change)} was not performed: an earlier call requested it under the same key, and its outcome is unknown.`,
    "Check the system itself. If it was not done, request it under another key.",
  );
}

/** It was started, and its outcome is unknown. */
function isUnknown({ durable: { steps }, acting: { name }, id }: OpenChange): boolean {
  return (
    steps.find(`change ${name} ${id}`) !== undefined && steps.find(`changed ${name} ${id}`) === undefined
  );
}

function tellFault(code: CapabilityCode, message: string, hint?: string): CapabilityFault {
  return presentFields({ code, message, hint });
}

function pending(change: AskedChange): CapabilityFault {
  const message = `${nameOf(change)} was not performed yet: it is waiting for a person to confirm it.`;
  return tellFault("capability_confirmation_pending", message);
}

function nameOf({ capability, operation }: Pick<AskedChange, "capability" | "operation">): string {
  return `\`${operation.name}\` of \`${capability}\``;
}

/** Not requested by a call, for example while a toolset is loading: made as in any other run. */
function asItIs({ idempotencyKey }: AskedChange): KeptChange {
  const nothing = (): Promise<void> => Promise.resolve();
  return { idempotencyKey, confirm: async (_, ask) => ask?.(), begin: nothing, end: nothing };
}

function digestChange({ capability, operation, account, input, idempotencyKey }: AskedChange): string {
  return digestOf([capability, operation.name, account ?? null, input, idempotencyKey ?? null]);
}

function nameChange(change: AskedChange, { asked, doubtful }: ActingCall): string {
  const { operation } = change;
  const digest = digestChange(change);
  const before = asked.get(digest) ?? 0;
  // A retry of something that may have happened means the same change.
  if (operation.idempotent && doubtful.delete(`${digest}-${before}`)) return `${digest}-${before}`;
  asked.set(digest, before + 1);
  return `${digest}-${before + 1}`;
}

function digestOf(value: unknown): string {
  return digestBytes(canonicalText(value)).replace("sha256:", "");
}

function hasAsked({ asked }: ActingCall, id: string): boolean {
  const [digest = "", times] = id.split("-");
  return (asked.get(digest) ?? 0) >= Number(times);
}

/**
 * Whether it is new and the call previously made a change it hasn't requested this time: then it now does something
 * else.
 */
function isOther({ durable: { steps }, acting, id: ownId }: OpenChange): boolean {
  const made = changesOf(steps, acting.name);
  return !made.some(({ id }) => id === ownId) && made.some(({ id }) => !hasAsked(acting, id));
}

function otherThanBefore(change: AskedChange): CapabilityFault {
  return tellFault(
    "capability_outcome_unknown",
    `${nameOf(change)} was not performed: this call was cut off after it changed something, and now requests a different change.`,
    "Check in the system itself what was done, then do the rest in a new call.",
  );
}

function keepOne(open: OpenChange): KeptChange {
  const { acting, change, id, runId, invoking } = open;
  const { steps } = open.durable;
  const { name } = acting;
  const { operation, capability } = change;
  return {
    idempotencyKey: change.idempotencyKey ?? `metier-${digestOf([runId, name, id])}`,
    confirm: (_, ask) => confirm(open, ask),
    async begin() {
      requireGoingOn(acting);
      acting.underWay.add(invoking);
      const what = `${capability} ${operation.name}`;
      const record: ChangeRecord = { call: name, id, what, isIdempotent: operation.idempotent };
      await recordOnce(steps, `change ${name} ${id}`, { ...record });
    },
    async end(answer) {
      const kept = open.redactor.redactJson(JSON.parse(JSON.stringify(answer)) as Json);
      await steps.record(`changed ${name} ${id}`, kept);
    },
  };
}

/** Whoever is there is asked first; their yes applies to this change whenever it is requested again. */
async function confirm(
  open: OpenChange,
  ask: (() => Promise<Confirmed>) | undefined,
): Promise<Confirmed | CapabilityFault | undefined> {
  const { durable, acting, id } = open;
  const { steps } = durable;
  const key = `confirmation ${acting.name} ${id}`;
  const said = steps.find(`said ${key}`);
  if (said === "yes" || said === "no") return said;
  const asked = await steps.asked(key);
  if (asked === undefined && ask) {
    if (isOther(open)) return otherThanBefore(open.change); // A person who is asked through a row sees that.
    const now = await ask();
    if (now === "yes" || now === "no") await recordOnce(steps, `said ${key}`, now);
    if (now !== "later") return now;
  }
  const { waiting } = acting;
  if (waiting === undefined) return ask && "later";
  const refusal = asked === undefined ? refuseWaiting(open, waiting) : undefined;
  if (refusal) return refusal;
  if (asked === undefined || asked.status === "pending") return waitForPerson(open, waiting, key);
  await tellAnswer(open, waiting, key, asked);
  if (asked.status === "approved") return "yes";
  return notConfirmed(
    `${nameOf(open.change)} was not performed: ${explainAnswer(asked).rule}.`,
    "Ask the user what to do instead; do not repeat the call.",
  );
}

function notConfirmed(message: string, hint: string): CapabilityFault {
  return tellFault("capability_mutation_not_confirmed", message, hint);
}

/** How often a call may request something other than what was answered. */
const MOST_OTHERS = 3;

function refuseWaiting(
  { durable, acting, change }: OpenChange,
  { isFinal }: CallWaiting,
): CapabilityFault | undefined {
  if (isFinal || isInDoubt(durable.steps, acting.name)) {
    return notConfirmed(
      `${nameOf(change)} needs a person to confirm it, but this call cannot wait: it has already acted, so it cannot start over after the answer.`,
      "Make the change in a separate tool call.",
    );
  }
  const others = waitsOf(durable.steps, acting.name).filter(({ id }) => !hasAsked(acting, id));
  if (others.length < MOST_OTHERS) return undefined;
  return tellFault(
    "capability_mutation_plan_mismatch",
    `${nameOf(change)} was not performed: each time this call starts over, it requests a different change from the one that was answered.`,
    "Make a call whose input is always the same, without times or random values.",
  );
}

/** What a person is shown: everything a terminal shows of a change. */
function describeChange({ change, redactor }: OpenChange): JsonObject {
  const { caller, capability, operation, account, accountName, input } = change;
  const { name, description } = operation;
  const body = presentFields({
    tool: `${capability} ${name}`,
    capability,
    operation: name,
    description,
    account,
    accountName,
    user: caller.userId,
    skill: caller.skill,
    input,
    rule: "a person confirms changes made by capabilities",
  });
  return redactor.redactJson(body) as JsonObject;
}

async function askPerson(open: OpenChange, { step, callId, tell }: CallWaiting, key: string): Promise<void> {
  const body = describeChange(open);
  const [tool, rule] = [String(body.tool), String(body.rule)];
  const input = body.input ?? {};
  await askOnce(open.durable, { key, kind: "confirmation", body }, (questionId) =>
    tell({ type: "approval-asked", kind: "confirmation", step, callId, tool, questionId, input, rule }),
  );
}

async function tellAnswer(
  { durable }: OpenChange,
  { step, callId, tell }: CallWaiting,
  key: string,
  { id: questionId, body, status, answeredBy: by }: Question,
): Promise<void> {
  if (durable.steps.find(`told ${key}`) !== undefined) return;
  const tool = String(body.tool);
  tell({ type: "approval-answered", kind: "confirmation", step, callId, tool, questionId, status, by });
  await durable.steps.record(`told ${key}`, true);
}

/**
 * From here on, the call gets nothing done, and starts over after the answer, even if that comes immediately. Its other
 * changes finish first; then the call is ended before it can act on any result.
 */
async function waitForPerson(open: OpenChange, waiting: CallWaiting, key: string): Promise<CapabilityFault> {
  const { durable, acting, change, id } = open;
  waiting.isEnding = true;
  await askPerson(open, waiting, key);
  await recordOnce(durable.steps, `waits ${acting.name} ${id}`, { call: acting.name, id, key });
  await Promise.all(acting.underWay);
  waiting.stop.abort(new Error("A change is waiting for a person."));
  await waiting.ended.promise;
  return pending(change);
}
