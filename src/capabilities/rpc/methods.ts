/**
 * What can be asked for through the socket: each method's params, the broker's function, and its answer. The wire has
 * snake_case. For whom it is done comes from the token alone.
 */
import type { CapabilityCaller, CapabilityListing, LinkedAccount } from "../capability.ts";
import type {
  AuthFlow,
  CapabilityBroker,
  CompletedAuth,
  InvokeOptions,
  PolledAuth,
} from "../capability-broker.ts";
import { type Answer, done } from "../capability-fault.ts";
import { type ParamKinds, type Params, readParams } from "./read-params.ts";

export interface MethodCall {
  readonly broker: CapabilityBroker;
  readonly caller: CapabilityCaller;
  readonly options: InvokeOptions;
}

export type PreparedCall = (call: MethodCall) => Promise<Answer<unknown>>;

/** Reads the params; a text says what is wrong with them. */
export type Method = (params: Readonly<Record<string, unknown>>) => PreparedCall | string;

function method<const Kinds extends ParamKinds>(
  kinds: Kinds,
  perform: (params: Params<Kinds>, call: MethodCall) => Promise<Answer<unknown>>,
): Method {
  return (given) => {
    const read = readParams(given, kinds);
    return read.ok ? (call) => perform(read.params as Params<Kinds>, call) : read.message;
  };
}

export const METHODS: ReadonlyMap<string, Method> = new Map([
  [
    "capability.list",
    method({ include_unavailable: "flag?" }, async ({ include_unavailable: all = false }, call) => {
      const listings = await call.broker.list(call.caller, { all });
      return done({ capabilities: listings.map(wireListing) });
    }),
  ],
  [
    "capability.invoke",
    method(
      {
        capability: "text",
        operation: "text",
        input: "object?",
        account_ref: "text?",
        idempotency_key: "text?",
        mutation_plan_id: "text?",
      },
      async (params, { broker, caller, options }) => {
        const { account_ref, idempotency_key, mutation_plan_id, ...rest } = params;
        const request = {
          ...rest,
          ...(account_ref !== undefined && { account: account_ref }),
          ...(idempotency_key !== undefined && { idempotencyKey: idempotency_key }),
          ...(mutation_plan_id !== undefined && { planId: mutation_plan_id }),
        };
        return map(await broker.invoke(caller, request, options), (answer) => ({
          ok: true,
          request_id: answer.requestId,
          capability: answer.capability,
          operation: answer.operation,
          account_ref: answer.account,
          repeated: answer.isRepeat,
          output: answer.output,
        }));
      },
    ),
  ],
  [
    "capability.auth.begin",
    method({ capability: "text", account_hint: "text?" }, async ({ capability, account_hint }, call) => {
      const request = { capability, ...(account_hint !== undefined && { account: account_hint }) };
      return map(await call.broker.auth.begin(call.caller, request), wireFlow);
    }),
  ],
  [
    "capability.auth.list",
    method({ capability: "text?", account_hint: "text?" }, async ({ account_hint, ...rest }, call) => {
      const filter = { ...rest, ...(account_hint !== undefined && { account: account_hint }) };
      return done({ flows: (await call.broker.auth.list(call.caller, filter)).map(wireFlow) });
    }),
  ],
  [
    "capability.auth.complete",
    method({ flow_id: "text", code: "text?", callback_url: "text?" }, async (params, { broker, caller }) => {
      const { flow_id: flowId, code, callback_url: callbackUrl } = params;
      const request = {
        flowId,
        ...(code !== undefined && { code }),
        ...(callbackUrl !== undefined && { callbackUrl }),
      };
      return map(await broker.auth.complete(caller, request), wireCompleted);
    }),
  ],
  [
    "capability.auth.complete_callback",
    method({ callback_url: "text" }, async ({ callback_url }, { broker, caller }) =>
      map(await broker.auth.completeCallback(caller, callback_url), wireCompleted),
    ),
  ],
  [
    "capability.auth.poll",
    method({ flow_id: "text" }, async ({ flow_id }, { broker, caller }) =>
      map(await broker.auth.poll(caller, flow_id), wirePolled),
    ),
  ],
]);

function map<From, To>(answer: Answer<From>, change: (value: From) => To): Answer<To> {
  return answer.ok ? done(change(answer.value)) : answer;
}

function wireListing(listing: CapabilityListing): object {
  return {
    id: listing.id,
    description: listing.description,
    sensitive: listing.sensitive,
    allowed_chat_types: listing.allowedChatTypes,
    available: listing.available,
    requires_auth: listing.requiresAuth,
    authenticated: listing.authenticated,
    linked_accounts: listing.linkedAccounts.map(wireAccount),
    operations: listing.operations.map((operation) => ({
      name: operation.name,
      description: operation.description,
      requires_auth: operation.requiresAuth,
      mutating: operation.mutating,
      idempotent: operation.idempotent,
      input_schema: operation.inputSchema,
      output_schema: operation.outputSchema,
    })),
  };
}

function wireAccount({ accountRef, accountName, accountEmail, createdAt }: LinkedAccount): object {
  return {
    account_ref: accountRef,
    account_name: accountName,
    account_email: accountEmail,
    created_at: createdAt,
  };
}

function wireFlow(flow: AuthFlow): object {
  return {
    flow_id: flow.flowId,
    capability: flow.capability,
    account_hint: flow.account,
    auth_url: flow.authUrl,
    flow_type: flow.flowType,
    expires_at: flow.expiresAt,
    user_code: flow.userCode,
    poll_interval_seconds: flow.pollIntervalSeconds,
  };
}

function wireCompleted(completed: CompletedAuth): object {
  return {
    ok: true,
    flow_id: completed.flowId,
    capability: completed.capability,
    account_ref: completed.accountRef,
    account_name: completed.accountName,
    account_email: completed.accountEmail,
  };
}

function wirePolled(polled: PolledAuth): object {
  if (polled.status === "complete") return { status: polled.status, ...wireCompleted(polled) };
  const { status, flowId, retryAfterSeconds } = polled;
  return { status, ok: false, flow_id: flowId, retry_after_seconds: retryAfterSeconds };
}
