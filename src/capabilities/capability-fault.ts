/** Why a capability was not performed: a value with a stable code, never an exception. */
export const CAPABILITY_CODES = {
  capability_not_found: "There is no such capability.",
  capability_access_denied: "It is not for this chat, or the run's skill does not declare it.",
  capability_auth_required: "The user has to link an account first.",
  capability_auth_flow_invalid: "There is no such sign-in for this user.",
  capability_auth_flow_expired: "The sign-in took too long.",
  capability_auth_flow_denied: "The user, or the system, said no to the sign-in.",
  capability_auth_callback_invalid: "The address that was pasted is none of a sign-in.",
  capability_auth_code_conflict: "The code and the address that were given contradict each other.",
  capability_auth_state_mismatch: "The answer belongs to another sign-in.",
  capability_auth_code_missing: "There is no code in what was given.",
  capability_auth_flow_ambiguous: "Several sign-ins are pending, and it is not said which one is meant.",
  capability_account_ambiguous: "Several accounts are linked, and it is not said which one is meant.",
  capability_invalid_input: "The request does not fit the operation.",
  capability_invalid_output: "What the provider answered is not allowed.",
  capability_backend_unavailable: "The provider cannot be reached, or failed.",
  capability_mutation_not_confirmed: "Nobody has confirmed the change.",
  capability_mutation_plan_mismatch: "What is asked for is not what was confirmed.",
  capability_outcome_unknown: "An earlier call with this key was cut off; whether it happened is not known.",
  capability_rate_limited: "Too many calls in a short time.",
  capability_cancelled: "The caller gave up.",
} as const;

export type CapabilityCode = keyof typeof CAPABILITY_CODES;

export interface CapabilityFault {
  /** One of ours, or the one that a bridge gave, passed on as it is. */
  readonly code: CapabilityCode | (string & {});
  /** What, which value, what is allowed. Never a secret, never what another user has. */
  readonly message: string;
  /** What to do. */
  readonly hint?: string;
  readonly retryAfterSeconds?: number;
}

export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: CapabilityFault };

export function done<Value>(value: Value): Answer<Value> {
  return { ok: true, value };
}

export function refuse(
  code: CapabilityCode,
  message: string,
  more: Pick<CapabilityFault, "hint" | "retryAfterSeconds"> = {},
): { readonly ok: false; readonly fault: CapabilityFault } {
  return { ok: false, fault: { code, message, ...more } };
}
