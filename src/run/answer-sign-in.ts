/**
 * The answer of a sign-in in the user's own message is given to the host before the run begins, where there is no doubt
 * which sign-in it answers; the model is told what became of it. What a model or a program says is never taken for one.
 */
import { readPasted } from "../capabilities/auth/read-pasted.ts";
import { type RecognisedAnswer, recogniseCallback } from "../capabilities/auth/recognise-callback.ts";
import type { CapabilityCaller } from "../capabilities/capability.ts";
import type { AuthFlow, CapabilityBroker, CompletedAuth } from "../capabilities/capability-broker.ts";
import type { CapabilityFault } from "../capabilities/capability-fault.ts";
import type { Redactor } from "../secrets/redaction.ts";
import { callbackHint } from "./callback-hint.ts";
import type { RunCapabilities } from "./run-capabilities.ts";

export interface SignInInput {
  readonly capabilities: RunCapabilities;
  /** With what its skill declares: a sign-in for anything else is not completed here. */
  readonly caller: CapabilityCaller;
  /** What the user wrote, word for word. */
  readonly message: string | undefined;
  /** Learns the code: it has done its work, and need not be told on. */
  readonly redactor: Redactor;
}

/** What the model is to know; nothing where the message holds no answer. */
export async function answerSignIn(input: SignInInput): Promise<string | undefined> {
  const { capabilities, caller, message, redactor } = input;
  const { declared = [] } = caller;
  if (declared.length === 0 || message === undefined) return undefined;
  try {
    const broker = await capabilities.broker();
    const pending = (await broker.auth.list(caller)).filter(({ capability }) =>
      declared.includes(capability),
    );
    const answer = recogniseCallback(message, pending);
    if (answer === undefined) return undefined;
    if (answer.flow === undefined) return pending.length > 0 ? callbackHint(declared, message) : NONE_PENDING;
    return await complete(answer, answer.flow, { broker, caller, redactor });
  } catch {
    return callbackHint(declared, message); // What the host cannot read, the skill's own calls will be told.
  }
}

const NONE_PENDING =
  "The user's own message holds the answer of a sign-in, and none is pending: it was completed before, or took too long. Go on with the task; begin a new sign-in only where an operation answers that it needs one.";

async function complete(
  { kind, text }: RecognisedAnswer,
  { flowId }: AuthFlow,
  {
    broker,
    caller,
    redactor,
  }: Pick<SignInInput, "caller" | "redactor"> & { readonly broker: CapabilityBroker },
): Promise<string> {
  const given = kind === "address" ? { callbackUrl: text } : { code: text };
  const answer = await broker.auth.complete(caller, { flowId, ...given });
  const { code = "" } = readPasted(text);
  if (answer.ok) redactor.add({ name: "SIGN_IN_CODE", value: code });
  return answer.ok ? tellLinked(answer.value) : tellFault(answer.fault);
}

function tellLinked({ capability, accountName, accountEmail, accountRef }: CompletedAuth): string {
  const account = accountEmail ?? accountName ?? accountRef;
  return `The user's own message held the answer of a sign-in, and the host has completed it: \`${capability}\` is linked to the account \`${account}\`. Do not begin another one for it; go on with the task.`;
}

function tellFault({ message, hint = "" }: CapabilityFault): string {
  return `The user's own message holds the answer of a sign-in, and the host could not complete it: ${message} ${hint}`.trim();
}
