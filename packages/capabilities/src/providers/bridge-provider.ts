/**
 * A provider in another process that speaks `bridge-v1`. It learns who asks only from a token made for it and this
 * call; the parameters contain no identity. Its secrets never appear in a message or an output.
 */
import type { JsonObject } from "@metier/base/json";
import { createRedactor, type Redactor } from "@metier/sandbox/secrets";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityProvider,
  type FaultAnswer,
  type ProviderContext,
} from "../capability.ts";
import {
  type BridgeMethod,
  type BridgeRequest,
  MAX_ENVELOPE_BYTES,
  makeRequest,
  readAuthorizedAccount,
  readBegunAuth,
  readBridgeDefinitions,
  readOutput,
  readPoll,
  readResponse,
  violation,
  writeRequest,
} from "./bridge-protocol.ts";
import type { Launch } from "./provider-launch.ts";
import { describeEnd, runProvider, tidyFault } from "./provider-process.ts";

/** `redactor`: knows the secrets that the bridge's process got. */
export function createBridgeProvider(
  namespace: string,
  exchange: BridgeExchange,
  redactor: Redactor,
): CapabilityProvider {
  /** Makes a separate token for each call, and returns a fault if that fails. */
  const ask = async <Value>(
    method: BridgeMethod,
    params: JsonObject,
    context: ProviderContext,
    read: (result: JsonObject) => Answer<Value>,
  ): Promise<Answer<Value>> => {
    const token = await context.token();
    const request = makeRequest(namespace, method, { ...params, context_token: token });
    const answer = await exchange.ask(request, context.signal);
    if (answer.ok) return read(answer.value);
    return tidyFault(answer, createRedactor([{ name: "context_token", value: token }]), redactor);
  };
  /** It stores something for an account, and must be told when that is unlinked. */
  let forgets = false;
  return {
    namespace,
    async definitions(signal) {
      const answer = await exchange.ask(makeRequest(namespace, "definitions", {}), signal);
      if (!answer.ok) return tidyFault(answer, redactor);
      forgets = answer.value.forgets === true;
      return readBridgeDefinitions(answer.value);
    },
    async invoke(request, context) {
      const output = await ask("invoke", invokeParams(request), context, readOutput);
      return output.ok ? answerWith(redactor.redactJson(output.value)) : output;
    },
    authBegin({ capabilityId, accountHint, redirectUri }, context) {
      const params = { capability_id: capabilityId, account_hint: accountHint ?? null };
      const sent = redirectUri === undefined ? params : { ...params, redirect_uri: redirectUri };
      return ask("auth_begin", sent, context, readBegunAuth);
    },
    authComplete: (request, context) =>
      ask("auth_complete", completeParams(request), context, readAuthorizedAccount),
    authPoll({ capabilityId, flowState }, context) {
      const params = { capability_id: capabilityId, flow_state: flowState };
      return ask("auth_poll", params, context, readPoll);
    },
    async forget({ accountRef, credentialMaterial }, context) {
      const account = { account_ref: accountRef, credential_material: credentialMaterial };
      if (forgets) await ask("auth_forget", account, context, answerWith);
    },
    close: () => exchange.close(),
  };
}

type Invoked = Parameters<CapabilityProvider["invoke"]>[0];

function invokeParams({ capabilityId, operation, input, account, idempotencyKey }: Invoked): JsonObject {
  return {
    capability_id: capabilityId,
    operation,
    input_data: input,
    account_ref: account?.accountRef ?? null,
    idempotency_key: idempotencyKey ?? null,
  };
}

type Completed = Parameters<NonNullable<CapabilityProvider["authComplete"]>>[0];

function completeParams(request: Completed): JsonObject {
  return {
    capability_id: request.capabilityId,
    flow_state: request.flowState,
    authorization_code: request.authorizationCode,
    raw_callback_url: request.rawCallbackUrl ?? null,
    state: request.state ?? null,
  };
}

// The original form of `bridge-v1`: one process per call, which reads one request, writes one answer and exits.

/** Sends requests from a bridge provider to its processes and returns their answers. */
export interface BridgeExchange {
  ask(request: BridgeRequest, signal?: AbortSignal): Promise<Answer<JsonObject>>;
  close(): Promise<void>;
}

export interface ExchangeParts {
  /** As in `[capabilities.providers.<name>]`. */
  readonly name: string;
  readonly timeoutMs: number;
  launch(): Promise<Answer<Launch>>;
}

export function providerClosed(name: string): FaultAnswer {
  return answerFault(
    "capability_backend_unavailable",
    `The provider \`${name}\` was closed together with its host.`,
  );
}

export function createProcessPerCall({ name, timeoutMs, launch }: ExchangeParts): BridgeExchange {
  const closing = new AbortController();
  const pending = new Set<Promise<Answer<JsonObject>>>();

  async function ask(request: BridgeRequest, signal?: AbortSignal): Promise<Answer<JsonObject>> {
    const text = writeRequest(request);
    if (!text.ok) return text;
    const launched = await launch();
    if (!launched.ok) return launched;
    const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
    return askProcess(launched.value, request.id, text.value, stop);
  }

  async function askProcess(
    started: Launch,
    id: string,
    text: string,
    stop: AbortSignal,
  ): Promise<Answer<JsonObject>> {
    const flood = new AbortController();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const ending = await runProvider(started, {
      stdin: text,
      timeoutMs,
      signal: AbortSignal.any([stop, flood.signal]),
      onStdout(chunk) {
        bytes += chunk.length;
        if (bytes > MAX_ENVELOPE_BYTES) flood.abort();
        else chunks.push(chunk);
      },
    });
    if (flood.signal.aborted) return violation(`it has more than ${MAX_ENVELOPE_BYTES} bytes`);
    if (ending.ended !== "exited" || ending.exitCode !== 0) return describeEnd(name, ending, timeoutMs);
    const answer = decode(Buffer.concat(chunks));
    return answer === undefined ? violation("it is not UTF-8") : readResponse(answer, id);
  }

  return {
    ask(request, signal) {
      if (closing.signal.aborted) return Promise.resolve(providerClosed(name));
      const asked = ask(request, signal);
      const settled = asked.finally(() => pending.delete(settled));
      pending.add(settled);
      return settled;
    },
    async close() {
      closing.abort();
      await Promise.allSettled(pending);
    },
  };
}

/** `undefined` if it is not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // The caller is told.
  }
}
