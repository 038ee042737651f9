/**
 * One request from the socket of a run, from its method to its answer. In this order: is there such a method, may this
 * door be used, whose token is it, are the params right, and only then the broker.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { AuditEntry, CapabilityBroker, ConfirmMutation } from "../capability-broker.ts";
import type { CallerTokens } from "../tokens/caller-tokens.ts";
import { METHODS } from "./methods.ts";
import {
  errorText,
  isObject,
  notDone,
  type RpcError,
  type RpcRequest,
  resultText,
  unknownMethod,
  wrongParams,
  wrongToken,
} from "./rpc-message.ts";

export interface Serving {
  readonly broker: CapabilityBroker;
  readonly tokens: CallerTokens;
  /** Only tokens of this run are accepted. */
  readonly runId: string;
  /** Asked before every change. Absent: nobody can be asked, so no. */
  readonly confirm?: ConfirmMutation;
  onAudit?(entry: AuditEntry): void;
  /** Why nothing is performed now, in a sentence for the caller: `capability_access_denied`. Asked for every request. */
  whyHeld?(): string | undefined;
  /** Hears of what the broker threw; the caller is told no more than that the host failed. */
  onFault?(fault: unknown): void;
}

export interface Performed {
  /** The answer, as JSON. */
  readonly text: string;
  /** It was refused before it was known whose it is. */
  readonly isStranger: boolean;
}

/** What a request came through. */
export interface Door {
  readonly signal: AbortSignal;
  /** What a request must bring where others can come too. */
  readonly bearer?: string;
}

export async function performRequest(request: RpcRequest, serving: Serving, door: Door): Promise<Performed> {
  try {
    return await perform(request, serving, door);
  } catch (fault) {
    serving.onFault?.(fault);
    return { text: errorText(request.id, HOST_FAILED), isStranger: false };
  }
}

const HOST_FAILED = notDone({
  code: "capability_backend_unavailable",
  message: "The host failed to perform it.",
});

async function perform(
  { id, method: name, params = {} }: RpcRequest,
  serving: Serving,
  { signal, bearer }: Door,
): Promise<Performed> {
  const refuse = (error: RpcError, isStranger = false): Performed => ({
    text: errorText(id, error),
    isStranger,
  });
  const method = METHODS.get(name);
  if (method === undefined) return refuse(unknownMethod([...METHODS.keys()]), true);
  if (!isObject(params)) return refuse(wrongParams("`params` must be an object."), true);
  if (bearer !== undefined && !isSame(params.bearer, bearer)) {
    return refuse(wrongParams("Invalid bearer: `params.bearer` must be `METIER_RPC_BEARER`."), true);
  }
  const { tokens, runId, broker, confirm, onAudit } = serving;
  const reading = await tokens.verify(textOf(params.context_token), textOf(params.nonce), { runId });
  if (!reading.ok) return refuse(wrongToken(reading), true);
  const prepared = method(params);
  if (typeof prepared === "string") return refuse(wrongParams(prepared));
  const held = serving.whyHeld?.();
  if (held !== undefined) return refuse(notDone({ code: "capability_access_denied", message: held }));
  const options = { signal, ...(confirm && { confirm }), ...(onAudit && { onAudit }) };
  const answer = await prepared({ broker, caller: reading.caller, options });
  return answer.ok
    ? { text: resultText(id, answer.value), isStranger: false }
    : refuse(notDone(answer.fault));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** In the same time, whatever was given. */
function isSame(given: unknown, wanted: string): boolean {
  const digest = (value: string): Buffer => createHash("sha256").update(value).digest();
  return timingSafeEqual(digest(typeof given === "string" ? given : ""), digest(wanted));
}
