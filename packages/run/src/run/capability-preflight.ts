/**
 * What is asked of the capabilities before a run begins: whether it may, what its user should know, and whether the user's
 * own message holds the answer of a sign-in.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { sayFault } from "@metier/base/diagnostic";
import { done, type Result, refused } from "@metier/base/result";
import { showNames } from "@metier/base/text";
import {
  type CapabilityBroker,
  type CapabilityFault,
  type CompletedAuth,
  readPasted,
  recogniseCallback,
} from "@metier/capabilities";
import { type Sandbox, seenCapabilitySocket } from "@metier/sandbox";
import type { Redactor } from "@metier/sandbox/secrets";
import type { Skill } from "@metier/skills";
import type { CapabilityAnswer, InvocationHost } from "../invoke/checks.ts";
import { pathOf } from "../invoke/choose-execution.ts";
import { type Caller, type InvocationRefusal, toCapabilityCaller } from "../invoke/invocation.ts";
import { describeCaller } from "./open-capabilities.ts";
import type { RunGiven } from "./run-context.ts";
import { type RunCapabilities, rawMessageOf } from "./run-request.ts";

/** For the checks: not registered and not for this chat are reasons to refuse. */
export function createPreflight(capabilities: RunCapabilities): NonNullable<InvocationHost["capabilities"]> {
  return async (ids, caller) => {
    const answer = await askBroker(capabilities, caller, (broker, known) => broker.preflight(ids, known));
    if (!answer.ok) return { ...answer.refusal, data: { capabilities: ids } };
    const fault = answer.value;
    return (
      fault && {
        message: fault.message,
        hint: fault.hint ?? "`metier capability list --all` says what there is, and for which chats.",
        data: { capabilities: ids, code: fault.code },
      }
    );
  };
}

/** A sign-in that is missing is said and refuses nothing: the skill is what asks the user for it. */
export async function reportUnlinked(
  skill: Skill,
  capabilities: RunCapabilities | undefined,
  caller: Caller | undefined,
): Promise<readonly Diagnostic[]> {
  const ids = skill.manifest.capabilities;
  if (ids.length === 0 || capabilities === undefined) return [];
  const answer = await askBroker(capabilities, caller, (broker, known) =>
    broker.list({ ...known, declared: ids }),
  );
  const listed = (answer.ok && answer.value) || [];
  const unlinked = listed
    .filter(({ requiresAuth, authenticated }) => requiresAuth && !authenticated)
    .map(({ id }) => id);
  if (unlinked.length === 0) return [];
  return [
    {
      code: "capability.unlinked",
      severity: "info",
      path: pathOf(skill),
      message: `\`${skill.name}\` uses ${showNames(unlinked)}, for which no account is linked yet: it will ask for a sign-in.`,
      hint: `\`metier capability auth begin ${unlinked[0]}\` links one beforehand.`,
    },
  ];
}

/** Capabilities are called by commands: where none of those reaches the host, the skill cannot do what it is for. */
export function refuseWithoutSocket(
  skill: Skill,
  sandbox: Sandbox | undefined,
): InvocationRefusal | undefined {
  const ids = skill.manifest.capabilities;
  if (ids.length === 0) return undefined;
  if (sandbox?.runsPrograms && seenCapabilitySocket(sandbox.backend, "") !== undefined) return undefined;
  const why = sandbox
    ? `commands of the sandbox backend \`${sandbox.backend}\` do not reach the host`
    : "no sandbox works here, so no command is run";
  return {
    reason: "capabilities",
    skill: skill.name,
    message: `Skill \`${skill.name}\` needs ${showNames(ids)}, which are called by commands, and ${why}.`,
    hint: "Use the backend `bubblewrap` (`[sandbox] backend` in your config); `metier doctor` says whether it works.",
    data: { capabilities: ids, backend: sandbox?.backend ?? "absent" },
    also: [],
  };
}

type Unasked = Pick<NonNullable<CapabilityAnswer>, "message" | "hint">;

/** What the broker cannot read is a reason like any other, not the end of the program. */
async function askBroker<Value>(
  { broker }: RunCapabilities,
  caller: Caller | undefined,
  ask: (
    broker: CapabilityBroker,
    known: NonNullable<ReturnType<typeof toCapabilityCaller>>,
  ) => Promise<Value>,
): Promise<Result<Value | undefined, Unasked>> {
  const known = toCapabilityCaller(caller);
  if (known === undefined) return done(undefined);
  try {
    return done(await ask(await broker(), known));
  } catch (fault) {
    const reason = sayFault(fault);
    const message = `The capabilities cannot be asked: ${reason}`;
    return refused({ message, hint: "`metier doctor` says what is wrong with them." });
  }
}

/**
 * The answer of a sign-in in the user's own message is given to the host before the run begins, where there is no doubt
 * which sign-in it answers; in a mere plan nothing is completed. What a model or a program says is never taken for one. What
 * the model is to know of it; nothing where the message holds no answer.
 */
export async function answerSignIn(
  skill: Skill,
  { request, host, runId, isDry }: RunGiven,
  redactor: Redactor,
): Promise<string | undefined> {
  const message = rawMessageOf(request);
  const declared = skill.manifest.capabilities;
  if (declared.length === 0 || message === undefined) return undefined;
  const caller = describeCaller(skill, request, runId);
  if (isDry || !host.capabilities || !caller) return callbackHint(declared, message);
  try {
    const broker = await host.capabilities.broker();
    // A sign-in for anything else than the skill declares is not completed here.
    const pending = (await broker.auth.list(caller)).filter(({ capability }) =>
      declared.includes(capability),
    );
    const answer = recogniseCallback(message, pending);
    if (answer === undefined) return undefined;
    if (answer.flow === undefined) return pending.length > 0 ? callbackHint(declared, message) : NONE_PENDING;
    const { kind, text, flow } = answer;
    const given = kind === "address" ? { callbackUrl: text } : { code: text };
    const completed = await broker.auth.complete(caller, { flowId: flow.flowId, ...given });
    if (!completed.ok) return tellFault(completed.fault);
    // The code has done its work, and need not be told on.
    redactor.add({ name: "SIGN_IN_CODE", value: readPasted(text).code ?? "" });
    return tellLinked(completed.value);
  } catch {
    return callbackHint(declared, message); // What the host cannot read, the skill's own calls will be told.
  }
}

const NONE_PENDING =
  "The user's own message holds the answer of a sign-in, and none is pending: it was completed before, or took too long. Go on with the task; begin a new sign-in only where an operation answers that it needs one.";

function tellLinked({ capability, accountName, accountEmail, accountRef }: CompletedAuth): string {
  const account = accountEmail ?? accountName ?? accountRef;
  return `The user's own message held the answer of a sign-in, and the host has completed it: \`${capability}\` is linked to the account \`${account}\`. Do not begin another one for it; go on with the task.`;
}

function tellFault({ message, hint = "" }: CapabilityFault): string {
  return `The user's own message holds the answer of a sign-in, and the host could not complete it: ${message} ${hint}`.trim();
}

const HINT =
  "The user's own message holds the answer of a sign-in. List the sign-ins that are pending, complete the newest one that fits with exactly what the user sent, and begin a new one only if none is pending.";

/**
 * A user who signs in pastes the address the browser ended at, or the code from it. A model that passes the task on tends to
 * tell it in other words, so the user's own message is looked at, for skills that use capabilities.
 */
export function callbackHint(
  capabilities: readonly string[],
  userMessage: string | undefined,
): string | undefined {
  if (capabilities.length === 0 || userMessage === undefined) return undefined;
  return recogniseCallback(userMessage) ? HINT : undefined;
}
