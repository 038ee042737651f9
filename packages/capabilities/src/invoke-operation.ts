/**
 * The only way from a request to a provider: all checks in order, the call, the check of its output, and the record. A
 * request refused here has changed nothing.
 */
import { randomUUID } from "node:crypto";
import { checkJson, type JsonObject, presentFields } from "@metier/base/json";
import { showNames, showValue } from "@metier/base/text";
import { isCapabilityId } from "@metier/skills";
import { findCapability, refuseTooMany } from "./access.ts";
import { chooseAccount } from "./accounts.ts";
import { auditCall, type CallAudit } from "./audit.ts";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityCaller,
  type CapabilityOperation,
} from "./capability.ts";
import type { BrokerCallOptions, InvokeAnswer, InvokeRequest } from "./capability-broker.ts";
import {
  type InvokeParts,
  type Performed,
  performChange,
  performOperation,
  type ReadyCall,
} from "./perform-operation.ts";
import { digestJson, readPlainObject } from "./plain-json.ts";
import type { RegisteredCapability } from "./provider-registry.ts";

/** Enough to tell calls apart; taken from a UUID, which the system pre-generates. */
const ID_DIGITS = 16;

export async function invokeOperation(
  parts: InvokeParts,
  caller: CapabilityCaller,
  request: InvokeRequest,
  options: BrokerCallOptions = {},
): Promise<Answer<InvokeAnswer>> {
  const requestId = `cap_${randomUUID().replaceAll("-", "").slice(0, ID_DIGITS)}`;
  const { capability, operation } = request;
  // An invalid id could be anything, even a secret.
  const named = isCapabilityId(String(capability)) ? capability : "(invalid)";
  const call = { requestId, action: "invoke", capability: named } as const;
  const audit = auditCall(parts.audit, caller, call, parts.now, options.onAudit);
  let ready: ReadyCall | undefined;
  const performed = await tellFaults(async (): Promise<Answer<Performed>> => {
    const checked = await checkCall(parts, caller, request, audit);
    if (!checked.ok) return checked;
    ready = checked.value;
    return ready.operation.mutating
      ? performChange(parts, ready, audit, options)
      : performOperation(parts, ready, options.signal);
  });
  const recorded = await tellFaults(async () => {
    await audit.write(performed.ok ? (performed.value.isRepeat ? "repeat" : "ok") : performed.fault.code);
    return performed;
  });
  // The change was recorded before it was made; failing to record its end is no reason to deny it.
  const answer = ready?.operation.mutating ? performed : recorded;
  if (!answer.ok) return answer;
  const account = ready?.account?.accountRef;
  return answerWith(presentFields({ requestId, capability, operation, account, ...answer.value }));
}

/** All checks before anything happens. */
async function checkCall(
  { registry, accounts, limits }: InvokeParts,
  caller: CapabilityCaller,
  request: InvokeRequest,
  audit: CallAudit,
): Promise<Answer<ReadyCall>> {
  const found = await findCapability(registry, request.capability, caller);
  if (!found.ok) return found;
  const { definition } = found.value;
  const operation = definition.operations.find(({ name }) => name === request.operation);
  if (!operation) {
    const message = `\`${definition.id}\` has no operation ${showValue(request.operation)}.`;
    const hint = `Its operations are ${showNames(definition.operations.map(({ name }) => name))}.`;
    return answerFault("capability_invalid_input", message, { hint });
  }
  audit.know({ operation: operation.name, mutating: operation.mutating });
  const strange = checkRequest(request, operation);
  if (strange) return answerFault("capability_invalid_input", strange);
  const { idempotencyKey, planId } = request;
  if (idempotencyKey !== undefined) audit.know({ idempotencyKey });
  const input = await readInput(found.value, operation, request.input);
  if (!input.ok) return input;
  audit.know({ inputDigest: digestJson(input.value) });
  const isAsked = operation.requiresAuth || request.account !== undefined;
  const linked = isAsked ? await accounts.list(caller.userId, definition.id) : [];
  const chosen = chooseAccount(definition.id, operation, linked, request.account);
  if (!chosen.ok) return chosen;
  const account = chosen.value;
  if (account) audit.know({ account: account.accountRef });
  const tooMany = refuseTooMany(limits, caller, definition.id);
  if (tooMany) return tooMany;
  return answerWith({
    caller,
    capability: found.value,
    operation,
    input: input.value,
    account,
    idempotencyKey,
    planId,
  });
}

const KEY = /^[\x21-\x7E](?:[\x20-\x7E]{0,198}[\x21-\x7E])?$/;

function checkRequest(
  { idempotencyKey, planId }: InvokeRequest,
  { name, mutating }: CapabilityOperation,
): string | undefined {
  if (idempotencyKey !== undefined && !KEY.test(String(idempotencyKey))) {
    return `The idempotency key is ${showValue(idempotencyKey)}; it must have 1 to 200 printable characters.`;
  }
  if (planId !== undefined && !mutating) {
    return `A plan id was given, but \`${name}\` changes nothing and needs no confirmation.`;
  }
  return undefined;
}

/** As the provider gets it, with the schema's defaults. */
async function readInput(
  { definition }: RegisteredCapability,
  { name, inputSchema }: CapabilityOperation,
  given: unknown = {},
): Promise<Answer<JsonObject>> {
  const what = `The input of \`${name}\` of \`${definition.id}\``;
  const plain = readPlainObject(given);
  if (!plain.ok) return answerFault("capability_invalid_input", `${what} ${plain.refusal}.`);
  if (!inputSchema) return answerWith(plain.value);
  const check = await checkJson(inputSchema, plain.value);
  if (check.ok) return answerWith(check.value as JsonObject);
  return answerFault("capability_invalid_input", `${what} does not match its schema: ${check.message}.`, {
    hint: "See each operation's schema with `capability list`.",
  });
}

/** A full disk or a damaged file is a fault of the host, reported to the caller like any other fault. */
async function tellFaults<Value>(work: () => Promise<Answer<Value>>): Promise<Answer<Value>> {
  try {
    return await work();
  } catch (error) {
    const { message, hint } = error as { readonly message: string; readonly hint?: string | undefined };
    return answerFault("capability_backend_unavailable", `The call was stopped: ${message}`, { hint });
  }
}
