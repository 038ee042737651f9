/**
 * Decides whether a caller may use a capability: it exists, the chat and the run's skill may see it, and the rate limit
 * allows it. A capability that is not visible cannot be used.
 */
import { showValue, tellMoved } from "@metier/base/text";
import { dropOldest } from "@metier/base/turns";
import { isCapabilityId } from "@metier/skills";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityCaller,
  type CapabilityDefinition,
  type CapabilityFault,
  type FaultAnswer,
} from "./capability.ts";
import type { CapabilityRegistry, RegisteredCapability } from "./provider-registry.ts";

export async function findCapability(
  registry: CapabilityRegistry,
  id: string,
  caller: CapabilityCaller,
): Promise<Answer<RegisteredCapability>> {
  if (typeof id !== "string" || !isCapabilityId(id)) {
    return answerFault(
      "capability_not_found",
      `${showValue(id)} is not a capability id; write \`namespace.name\`.`,
      { hint: LIST },
    );
  }
  const found = await registry.find(id);
  if (!found) return explainMissing(registry, id);
  const denied = checkVisible(found.definition, caller);
  return denied ? { ok: false, fault: denied } : answerWith(found);
}

/** The first reason why this caller cannot use a skill that declares these capabilities. */
export async function checkDeclared(
  registry: CapabilityRegistry,
  ids: readonly string[],
  caller: CapabilityCaller,
): Promise<CapabilityFault | undefined> {
  const found = await Promise.all(
    ids.map((id) => findCapability(registry, id, { ...caller, declared: ids })),
  );
  const [first] = found.flatMap((answer) => (answer.ok ? [] : [answer.fault]));
  return first;
}

const LIST = "See the available ones with `capability list`.";

/** Distinguishes a failed provider from one that does not exist. */
async function explainMissing(registry: CapabilityRegistry, id: string): Promise<Answer<never>> {
  const namespace = id.slice(0, id.indexOf("."));
  const providers = await registry.statuses(namespace);
  if (providers.length === 0) {
    return answerFault(
      "capability_not_found",
      `There is no capability \`${id}\`: no provider has the namespace \`${namespace}\`.`,
      {
        hint: `${tellMoved(namespace) ?? LIST} Add providers in the config under \`[capabilities.providers.${namespace}]\`.`,
      },
    );
  }
  const failed = providers.every(({ fault }) => fault !== undefined) ? providers[0] : undefined;
  if (!failed?.fault) {
    return answerFault(
      "capability_not_found",
      `The provider \`${namespace}\` does not offer a capability \`${id}\`.`,
      { hint: LIST },
    );
  }
  return answerFault(
    "capability_backend_unavailable",
    `\`${id}\` is unavailable because its provider \`${failed.name}\` failed: ${failed.fault.message}`,
    { hint: failed.fault.hint },
  );
}

type Restricted = Pick<CapabilityDefinition, "id" | "sensitive" | "allowedChatTypes">;

/** In lowercase. Empty: every chat. */
export function chatTypesOf({ sensitive, allowedChatTypes = [] }: Restricted): readonly string[] {
  if (allowedChatTypes.length > 0) return allowedChatTypes;
  return sensitive ? ["private"] : [];
}

/** Without a run there is no declaration, and the user may use everything. */
export function isDeclared(id: string, { declared }: CapabilityCaller): boolean {
  return declared === undefined || declared.includes(id);
}

export function isVisibleTo(definition: Restricted, caller: CapabilityCaller): boolean {
  return checkVisible(definition, caller) === undefined;
}

/** Why this caller may not use it. */
export function checkVisible(definition: Restricted, caller: CapabilityCaller): CapabilityFault | undefined {
  const { id } = definition;
  if (!isDeclared(id, caller)) {
    const skill = caller.skill === undefined ? "The run's skill" : `The skill \`${caller.skill}\``;
    return {
      code: "capability_access_denied",
      message: `${skill} does not declare the capability \`${id}\`.`,
      hint: `A skill may use only what it lists in \`capabilities\`: add \`${id}\` there if it needs it.`,
    };
  }
  const allowed = chatTypesOf(definition);
  const chatType = caller.chatType?.trim().toLowerCase() ?? "";
  if (allowed.length === 0 || allowed.includes(chatType)) return undefined;
  const chats = allowed.map((type) => `\`${type}\``).join(", ");
  return {
    code: "capability_access_denied",
    message: `The capability \`${id}\` is for chats of type ${chats}; the type of this chat is ${chatType === "" ? "not known" : `\`${chatType}\``}.`,
    hint: "Ask for it in such a chat.",
  };
}

/** Limits how many times per minute one user may call one capability, including sign-ins. Kept in memory. */
export interface RateLimits {
  /** Counts the call, or returns how many seconds to wait. */
  take(userId: string, capability: string): number | undefined;
  forget(isMeant: (userId: string) => boolean): void;
}

/** Why the call is refused; otherwise the call is counted. */
export function refuseTooMany(
  limits: RateLimits,
  { userId }: { readonly userId: string },
  capability: string,
): FaultAnswer | undefined {
  const retryAfterSeconds = limits.take(userId, capability);
  if (retryAfterSeconds === undefined) return undefined;
  return answerFault(
    "capability_rate_limited",
    `\`${capability}\` was called too often in the last minute.`,
    {
      retryAfterSeconds,
      hint: `Wait ${retryAfterSeconds} seconds. \`[capabilities] rate-limit\` sets the number of calls allowed per minute.`,
    },
  );
}

const MINUTE_MS = 60_000;
/** Beyond this, the callers that have been idle longest are forgotten. */
const MOST_COUNTED = 10_000;

export function createRateLimits({
  perMinute,
  now = Date.now,
}: {
  readonly perMinute: number;
  now?(): number;
}): RateLimits {
  /** Call times of the last minute, oldest first, keyed by caller; the most recent caller is last. */
  const calls = new Map<string, number[]>();
  return {
    take(userId, capability) {
      const key = JSON.stringify([userId, capability]);
      const time = now();
      const recent = calls.get(key) ?? [];
      while (time - (recent[0] ?? time) >= MINUTE_MS) recent.shift();
      const [oldest = time] = recent;
      if (recent.length >= perMinute) return Math.max(1, Math.ceil((oldest + MINUTE_MS - time) / 1000));
      recent.push(time);
      calls.delete(key);
      calls.set(key, recent);
      dropOldest(calls, MOST_COUNTED);
      return undefined;
    },
    forget(isMeant) {
      for (const key of calls.keys()) if (isMeant((JSON.parse(key) as [string])[0])) calls.delete(key);
    },
  };
}
