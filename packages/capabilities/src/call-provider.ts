/**
 * One call to a provider. An exception, a hang, an invalid answer and a caller who cancels all become faults in the
 * answer. A provider's error message is bounded, and withheld if it contains a credential.
 */
import { sayFault } from "@metier/base/diagnostic";
import { presentFields } from "@metier/base/json";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityCaller,
  type CapabilityFault,
  type FaultAnswer,
  isFaultCode,
  type ProviderContext,
} from "./capability.ts";
import { findCredential } from "./plain-json.ts";

/** Makes what a provider gets with each call: who asks, and what it may use for them. */
export type MakeContext = (
  namespace: string,
  caller: CapabilityCaller,
  signal?: AbortSignal,
) => ProviderContext;

interface ProviderCall {
  /** For messages. */
  readonly namespace: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A provider with its own limit notices first and says more about it. */
const MOST_GRACE_MS = 2_000;
const MOST_MESSAGE_CHARACTERS = 1_000;

const CANCELLED = answerFault("capability_cancelled", "The call was cancelled.");

export async function callProvider<Value>(
  { namespace, timeoutMs, signal }: ProviderCall,
  perform: (signal: AbortSignal) => Promise<Answer<Value>>,
): Promise<Answer<Value>> {
  if (signal?.aborted) return CANCELLED;
  const control = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Answer<Value>>();
  const stop = (answer: Answer<never>): void => {
    control.abort();
    resolve(answer);
  };
  const cancel = (): void => stop(CANCELLED);
  const giveUp = (): void => stop(tookTooLong(namespace, timeoutMs));
  const timer = setTimeout(giveUp, timeoutMs + Math.min(timeoutMs, MOST_GRACE_MS));
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    void performSafely(namespace, () => perform(control.signal)).then(resolve); // It never rejects.
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

function tookTooLong(namespace: string, timeoutMs: number): FaultAnswer {
  return answerFault(
    "capability_backend_unavailable",
    `The provider \`${namespace}\` did not answer within ${timeoutMs / 1000} seconds.`,
    { hint: "Try again later, or raise the provider's `timeout-seconds`." },
  );
}

/** A provider's error message in the form that may be passed on. */
function passOn(
  namespace: string,
  { code, message, hint, retryAfterSeconds }: CapabilityFault,
): CapabilityFault {
  return presentFields({
    code,
    message: makeSafe(message, `The provider \`${namespace}\` reported an error.`),
    hint: typeof hint === "string" ? makeSafe(hint, "See the provider's logs.") : undefined,
    retryAfterSeconds: Number.isFinite(retryAfterSeconds) ? Math.max(0, retryAfterSeconds ?? 0) : undefined,
  });
}

async function performSafely<Value>(
  namespace: string,
  perform: () => Promise<Answer<Value>>,
): Promise<Answer<Value>> {
  try {
    return readAnswer(namespace, await perform());
  } catch (error) {
    const reason = sayFault(error);
    return answerFault(
      "capability_backend_unavailable",
      makeSafe(`The provider \`${namespace}\` failed: ${reason}`, `The provider \`${namespace}\` failed.`),
    );
  }
}

/** An object in the embedding program may answer anything. */
function readAnswer<Value>(namespace: string, answer: unknown): Answer<Value> {
  const { ok, value, fault } = (answer ?? {}) as {
    readonly ok?: unknown;
    readonly value?: Value | undefined;
    readonly fault?: Partial<CapabilityFault> | undefined;
  };
  if (ok === true && value !== undefined) return answerWith(value);
  const { code, message } = fault ?? {};
  if (ok === false && fault && typeof code === "string" && isFaultCode(code) && typeof message === "string") {
    return { ok: false, fault: passOn(namespace, { ...fault, code, message }) };
  }
  return answerFault(
    "capability_invalid_output",
    `The provider \`${namespace}\` returned neither a value nor an error with a code and a message.`,
  );
}

function makeSafe(text: string, instead: string): string {
  if (findCredential(text) !== undefined)
    return `${instead} Its message is withheld because it contains what looks like a credential.`;
  return text.length > MOST_MESSAGE_CHARACTERS ? `${text.slice(0, MOST_MESSAGE_CHARACTERS)}…` : text;
}
