/**
 * What a skill is trusted with in this invocation: its own trust, or less. Chaining never raises, and once an untrusted
 * body is in a conversation, whatever is started from there counts as untrusted.
 */
import { serverOf } from "../skill/remote-name.ts";
import type { TrustDecision } from "../skill/skill.ts";
import { lowerTrust } from "../trust/trust-policy.ts";
import type { ConversationTrust } from "./conversation-trust.ts";
import type { Invocation } from "./invocation.ts";

export interface EffectiveTrust extends TrustDecision {
  /** What raises it, if anything does. */
  readonly hint: string;
}

export function effectiveTrust(
  name: string,
  own: TrustDecision,
  { callerTrust = "trusted", chain = [] }: Pick<Invocation, "callerTrust" | "chain">,
  conversation?: ConversationTrust,
): EffectiveTrust {
  const taint = conversation?.taintedBy;
  if (own.level === "untrusted") {
    const approve = serverOf(name) === undefined ? "trust" : "remote approve";
    return { ...own, hint: `Read it with \`metier read ${name}\`; \`metier ${approve} ${name}\` trusts it.` };
  }
  if (lowerTrust(own.level, callerTrust) === "untrusted") {
    const caller = chain.at(-1);
    return {
      level: "untrusted",
      reason: `It was invoked by ${caller === undefined ? "an untrusted run" : `the untrusted skill \`${caller}\``}, and cannot be given more than its caller has.`,
      hint: `Invoke \`${name}\` directly, or trust its caller.`,
    };
  }
  if (taint !== undefined) {
    return {
      level: "untrusted",
      reason: `The untrusted skill \`${taint}\` is in this conversation, so nothing that is started from it is trusted.`,
      hint: `Use \`${name}\` in a new conversation.`,
    };
  }
  return { ...own, hint: "" };
}
