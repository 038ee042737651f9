/**
 * The methods of `bridge-v1` that are for a user: from their parameters to calls of a provider, and its answers back.
 * Sign-ins are by device code, so there is no `auth_complete`.
 */
import type { JsonObject } from "../capabilities/capability.ts";
import { type Answer, done, refuse } from "../capabilities/capability-fault.ts";
import type {
  AuthorizedAccount,
  AuthPoll,
  BegunAuth,
  CapabilityProvider,
  ProviderAccount,
  ProviderContext,
} from "../capabilities/capability-provider.ts";
import { isJsonObject } from "../capabilities/json-object.ts";

export type BridgeCall = (
  provider: CapabilityProvider,
  params: JsonObject,
  context: ProviderContext,
) => Promise<Answer<JsonObject>>;

export const BRIDGE_CALLS: ReadonlyMap<string, BridgeCall> = new Map<string, BridgeCall>([
  [
    "auth_begin",
    async (provider, params, context) => {
      const capabilityId = textOf(params.capability_id) ?? "";
      const hint = textOf(params.account_hint);
      const request = { capabilityId, ...(hint !== undefined && { accountHint: hint }) };
      return mapAnswer(await (provider.authBegin?.(request, context) ?? notOffered("auth_begin")), showBegun);
    },
  ],
  [
    "auth_poll",
    async (provider, params, context) => {
      const request = {
        capabilityId: textOf(params.capability_id) ?? "",
        flowState: objectOf(params.flow_state),
      };
      return mapAnswer(await (provider.authPoll?.(request, context) ?? notOffered("auth_poll")), showPoll);
    },
  ],
  [
    "auth_forget",
    async (provider, params, context) => {
      await provider.forget?.(readAccount(params), context);
      return done({});
    },
  ],
  [
    "invoke",
    async (provider, params, context) => {
      const idempotencyKey = textOf(params.idempotency_key);
      const request = {
        capabilityId: textOf(params.capability_id) ?? "",
        operation: textOf(params.operation) ?? "",
        input: objectOf(params.input_data),
        ...(textOf(params.account_ref) !== undefined && { account: readAccount(params) }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      };
      return mapAnswer(await provider.invoke(request, context), (output) => ({ output }));
    },
  ],
]);

/** A bridge is told little more than the reference; the rest it keeps itself. */
function readAccount({ account_ref, credential_material }: JsonObject): ProviderAccount {
  const accountRef = textOf(account_ref) ?? "";
  return { accountRef, createdAt: "", credentialMaterial: objectOf(credential_material), metadata: {} };
}

async function notOffered(method: string): Promise<Answer<never>> {
  return refuse("capability_invalid_input", `This provider does not offer \`${method}\`.`);
}

function mapAnswer<Value>(answer: Answer<Value>, show: (value: Value) => JsonObject): Answer<JsonObject> {
  return answer.ok ? done(show(answer.value)) : answer;
}

function showBegun(begun: BegunAuth): JsonObject {
  return {
    auth_url: begun.authUrl,
    flow_type: begun.flowType,
    flow_state: begun.flowState,
    ...(begun.expiresAt !== undefined && { expires_at: begun.expiresAt }),
    ...(begun.userCode !== undefined && { user_code: begun.userCode }),
    ...(begun.pollIntervalSeconds !== undefined && { poll_interval_seconds: begun.pollIntervalSeconds }),
    ...(begun.expectedCallbackState !== undefined && {
      expected_callback_state: begun.expectedCallbackState,
    }),
  };
}

function showAccount({ accountRef, credentialMaterial, metadata }: AuthorizedAccount): JsonObject {
  return { account_ref: accountRef, credential_material: credentialMaterial, metadata };
}

function showPoll(poll: AuthPoll): JsonObject {
  if (poll.status === "complete") return { status: "complete", ...showAccount(poll.account) };
  const { retryAfterSeconds, flowState } = poll;
  return {
    status: "pending",
    retry_after_seconds: retryAfterSeconds,
    ...(flowState && { flow_state: flowState }),
  };
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? (value as JsonObject) : {};
}
