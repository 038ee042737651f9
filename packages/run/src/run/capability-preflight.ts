/**
 * What capabilities are asked before a run starts: whether it may, what its user should know, and whether the user's
 * message answers a sign-in.
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

/** For the checks: refuses if one isn't registered, or not for this chat. */
export function createPreflight(capabilities: RunCapabilities): NonNullable<InvocationHost["capabilities"]> {
  return async (ids, caller) => {
    const answer = await askBroker(capabilities, caller, (broker, known) => broker.preflight(ids, known));
    if (!answer.ok) return { ...answer.refusal, data: { capabilities: ids } };
    const fault = answer.value;
    return (
      fault && {
        message: fault.message,
        hint:
          fault.hint ??
          "`metier capability list --all` shows the capabilities, and the chats each one is for.",
        data: { capabilities: ids, code: fault.code },
      }
    );
  };
}

/** A missing sign-in is reported and refuses nothing: the skill asks the user for it. */
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
      message: `\`${skill.name}\` uses ${showNames(unlinked)}, which has no linked account yet: it will ask for a sign-in.`,
      hint: `Link one first with \`metier capability auth begin ${unlinked[0]}\`.`,
    },
  ];
}

/** Commands call capabilities: if none can reach the host, the skill can't do its job. */
export function refuseWithoutSocket(
  skill: Skill,
  sandbox: Sandbox | undefined,
): InvocationRefusal | undefined {
  const ids = skill.manifest.capabilities;
  if (ids.length === 0) return undefined;
  if (sandbox?.runsPrograms && seenCapabilitySocket(sandbox.backend, "") !== undefined) return undefined;
  const why = sandbox
    ? `commands in the sandbox backend \`${sandbox.backend}\` cannot reach the host`
    : "no sandbox works here, so no command runs";
  return {
    reason: "capabilities",
    skill: skill.name,
    message: `Skill \`${skill.name}\` calls ${showNames(ids)} from commands, but ${why}.`,
    hint: "Use the backend `bubblewrap` (`[sandbox] backend` in your config); `metier doctor` shows whether it works.",
    data: { capabilities: ids, backend: sandbox?.backend ?? "absent" },
    also: [],
  };
}

type Unasked = Pick<NonNullable<CapabilityAnswer>, "message" | "hint">;

/** An error of the broker is a reason like any other, and doesn't end the program. */
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
    const message = `The capabilities are unavailable: ${reason}`;
    return refused({ message, hint: "`metier doctor` shows what is wrong with them." });
  }
}

/**
 * If the user's own message answers a sign-in, the host gets it before the run starts, provided it is clear which
 * sign-in it answers; a plan completes nothing. Text from a model or program is never used. Returns what the model
 * should know; nothing if the message has no answer.
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
    // Sign-ins for capabilities that the skill doesn't declare aren't completed here.
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
    // The code has been used, so nobody else needs it.
    redactor.add({ name: "SIGN_IN_CODE", value: readPasted(text).code ?? "" });
    return tellLinked(completed.value);
  } catch {
    return callbackHint(declared, message); // If the host can't read it, the skill's own calls will report that.
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
 * A user who signs in pastes the final browser address, or its code. A model that passes the task on tends to rephrase
 * it, so the user's own message is checked, for skills that use capabilities.
 */
export function callbackHint(
  capabilities: readonly string[],
  userMessage: string | undefined,
): string | undefined {
  if (capabilities.length === 0 || userMessage === undefined) return undefined;
  return recogniseCallback(userMessage) ? HINT : undefined;
}
