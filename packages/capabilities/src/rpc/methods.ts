/**
 * The socket's methods: their params, the broker function, and their answers. The wire uses snake_case. Who a call is
 * for comes only from the token.
 */
import { isJsonObject, type JsonObject, presentFields } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { type Answer, answerWith, type CapabilityCaller, type CapabilityListing } from "../capability.ts";
import type {
  AuthFlow,
  BrokerCallOptions,
  CapabilityBroker,
  CompletedAuth,
  PolledAuth,
} from "../capability-broker.ts";

interface MethodCall {
  readonly broker: CapabilityBroker;
  readonly caller: CapabilityCaller;
  readonly options: BrokerCallOptions;
}

type PreparedCall = (call: MethodCall) => Promise<Answer<unknown>>;

/** Reads the params; a refusal says what is wrong. */
type Method = (params: Readonly<Record<string, unknown>>) => Result<PreparedCall, string>;

function method<const Kinds extends ParamKinds>(
  kinds: Kinds,
  perform: (params: Params<Kinds>, call: MethodCall) => Promise<Answer<unknown>>,
): Method {
  return (given) => {
    const read = readParams(given, kinds);
    return read.ok ? done((call) => perform(read.value as Params<Kinds>, call)) : read;
  };
}

export const METHODS: Readonly<Record<string, Method>> = {
  "capability.list": method(
    { include_unavailable: "flag?" },
    async ({ include_unavailable: all = false }, call) => {
      const listings = await call.broker.list(call.caller, { all });
      return answerWith({ capabilities: listings.map(wireListing) });
    },
  ),
  "capability.invoke": method(
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
      const named = { account: account_ref, idempotencyKey: idempotency_key, planId: mutation_plan_id };
      const request = presentFields({ ...rest, ...named });
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
  "capability.auth.begin": method(
    { capability: "text", account_hint: "text?" },
    async ({ capability, account_hint }, call) => {
      const request = presentFields({ capability, account: account_hint });
      return map(await call.broker.auth.begin(call.caller, request), wireFlow);
    },
  ),
  "capability.auth.list": method(
    { capability: "text?", account_hint: "text?" },
    async ({ account_hint, ...rest }, call) => {
      const filter = presentFields({ ...rest, account: account_hint });
      return answerWith({ flows: (await call.broker.auth.list(call.caller, filter)).map(wireFlow) });
    },
  ),
  "capability.auth.complete": method(
    { flow_id: "text", code: "text?", callback_url: "text?" },
    async (params, { broker, caller }) => {
      const { flow_id: flowId, code, callback_url: callbackUrl } = params;
      const request = presentFields({ flowId, code, callbackUrl });
      return map(await broker.auth.complete(caller, request), wireCompleted);
    },
  ),
  "capability.auth.complete_callback": method(
    { callback_url: "text" },
    async ({ callback_url }, { broker, caller }) =>
      map(await broker.auth.completeCallback(caller, callback_url), wireCompleted),
  ),
  "capability.auth.poll": method({ flow_id: "text" }, async ({ flow_id }, { broker, caller }) =>
    map(await broker.auth.poll(caller, flow_id), wirePolled),
  ),
};

function map<From, To>(answer: Answer<From>, change: (value: From) => To): Answer<To> {
  return answer.ok ? answerWith(change(answer.value)) : answer;
}

/** These fields, in wire spelling. */
function toWire<Value extends object>(value: Value, names: readonly (keyof Value & string)[]): object {
  const spell = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(names.map((name) => [spell(name), value[name]]));
}

function wireListing(listing: CapabilityListing): object {
  return {
    ...toWire(listing, ["id", "description", "sensitive", "allowedChatTypes", "available"]),
    ...toWire(listing, ["requiresAuth", "authenticated"]),
    linked_accounts: listing.linkedAccounts.map((account) =>
      toWire(account, ["accountRef", "accountName", "accountEmail", "createdAt"]),
    ),
    operations: listing.operations.map((operation) => ({
      ...toWire(operation, ["name", "description", "requiresAuth", "mutating", "idempotent"]),
      ...toWire(operation, ["inputSchema", "outputSchema"]),
    })),
  };
}

function wireFlow(flow: AuthFlow): object {
  return {
    ...toWire(flow, ["flowId", "capability"]),
    account_hint: flow.account,
    ...toWire(flow, ["authUrl", "flowType", "expiresAt", "userCode", "pollIntervalSeconds"]),
  };
}

function wireCompleted(completed: CompletedAuth): object {
  const names = ["flowId", "capability", "accountRef", "accountName", "accountEmail"] as const;
  return { ok: true, ...toWire(completed, names) };
}

function wirePolled(polled: PolledAuth): object {
  if (polled.status === "complete") return { status: polled.status, ...wireCompleted(polled) };
  const { status, flowId, retryAfterSeconds } = polled;
  return { status, ok: false, flow_id: flowId, retry_after_seconds: retryAfterSeconds };
}

/** `?`: optional. A blank string counts as absent. */
type ParamKind = "text" | "text?" | "object?" | "flag?";

type ParamKinds = Readonly<Record<string, ParamKind>>;

type Value<Kind extends ParamKind> = Kind extends "object?"
  ? JsonObject
  : Kind extends "flag?"
    ? boolean
    : string;

type Params<Kinds extends ParamKinds> = {
  readonly [Name in keyof Kinds as Kinds[Name] extends "text" ? Name : never]: string;
} & {
  readonly [Name in keyof Kinds as Kinds[Name] extends "text" ? never : Name]?: Value<Kinds[Name]>;
};

/**
 * Checked against what the method takes, so that it fits `Params` of the same kinds. Other fields are ignored, above
 * all identities.
 */
function readParams(given: Readonly<Record<string, unknown>>, kinds: ParamKinds): Result<JsonObject, string> {
  const params: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (isLeftOut(value)) {
      if (kind === "text") return refused(`\`${name}\` is missing; it must be a string.`);
    } else if (!isKind(value, kind)) {
      return refused(`\`${name}\` must be ${KIND_NAMES[kind]}.`);
    } else params[name] = typeof value === "string" ? value.trim() : value;
  }
  return done(params as JsonObject);
}

const KIND_NAMES: Readonly<Record<ParamKind, string>> = {
  text: "a string",
  "text?": "a string if present",
  "object?": "a JSON object if present",
  "flag?": "`true` or `false` if present",
};

function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

function isKind(value: unknown, kind: ParamKind): boolean {
  if (kind === "object?") return isJsonObject(value);
  return typeof value === (kind === "flag?" ? "boolean" : "string");
}
