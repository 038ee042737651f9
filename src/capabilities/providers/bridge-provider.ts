/**
 * A provider in another process that speaks `bridge-v1`. It is told who asks by a token alone, made for it and for this
 * call: no identity stands in the parameters. However it answers, no secret of its own is in a message or an output.
 */
import { createRedactor, type Redactor } from "../../secrets/redaction.ts";
import type { Json } from "../../skill/manifest.ts";
import type { JsonObject } from "../capability.ts";
import { type Answer, done } from "../capability-fault.ts";
import type { CapabilityProvider, ProviderContext } from "../capability-provider.ts";
import { type BridgeMethod, makeRequest } from "./bridge-envelope.ts";
import type { BridgeExchange } from "./bridge-exchange.ts";
import { readAccount, readBegunAuth, readDefinitions, readOutput, readPoll } from "./bridge-results.ts";
import { tidyFault } from "./tidy-fault.ts";

/** `redactor`: knows what the process of the bridge was given. */
export function createBridgeProvider(
  namespace: string,
  exchange: BridgeExchange,
  redactor: Redactor,
): CapabilityProvider {
  /** It keeps something for an account, and wants to be told when that is no longer linked. */
  let forgets = false;

  async function ask(
    method: BridgeMethod,
    params: JsonObject,
    context: Pick<ProviderContext, "token" | "signal">,
  ): Promise<Answer<JsonObject>> {
    const token = await context.token();
    const request = makeRequest(namespace, method, { ...params, context_token: token });
    const answer = await exchange.ask(request, context.signal);
    return answer.ok
      ? answer
      : tidyFault(answer, createRedactor([{ name: "context_token", value: token }]), redactor);
  }

  return {
    namespace,
    async definitions(signal) {
      const answer = await exchange.ask(makeRequest(namespace, "definitions", {}), signal);
      if (!answer.ok) return tidyFault(answer, redactor);
      forgets = answer.value.forgets === true;
      return readDefinitions(answer.value);
    },
    async invoke({ capabilityId, operation, input, account, idempotencyKey }, context) {
      const answer = await ask(
        "invoke",
        {
          capability_id: capabilityId,
          operation,
          input_data: input,
          account_ref: account?.accountRef ?? null,
          idempotency_key: idempotencyKey ?? null,
        },
        context,
      );
      const output = andThen(answer, readOutput);
      return output.ok ? done(redactor.redactJson(output.value)) : output;
    },
    async authBegin({ capabilityId, accountHint, redirectUri }, context) {
      const answer = await ask(
        "auth_begin",
        {
          capability_id: capabilityId,
          account_hint: accountHint ?? null,
          ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
        },
        context,
      );
      return andThen(answer, readBegunAuth);
    },
    async authComplete({ capabilityId, flowState, authorizationCode, rawCallbackUrl, state }, context) {
      const answer = await ask(
        "auth_complete",
        {
          capability_id: capabilityId,
          flow_state: flowState,
          authorization_code: authorizationCode,
          raw_callback_url: rawCallbackUrl ?? null,
          state: state ?? null,
        },
        context,
      );
      return andThen(answer, readAccount);
    },
    async authPoll({ capabilityId, flowState }, context) {
      const answer = await ask("auth_poll", { capability_id: capabilityId, flow_state: flowState }, context);
      return andThen(answer, readPoll);
    },
    async forget({ accountRef, credentialMaterial }, context) {
      const account = { account_ref: accountRef, credential_material: credentialMaterial };
      if (forgets) await ask("auth_forget", account, context);
    },
    close: () => exchange.close(),
  };
}

function andThen<Value extends Json, Next>(
  answer: Answer<Value>,
  read: (value: Value) => Answer<Next>,
): Answer<Next> {
  return answer.ok ? read(answer.value) : answer;
}
