/** How a capability that was not performed ends the command. A code of a provider's own is a failure. */
import type { CapabilityCode, CapabilityFault } from "../../capabilities/capability-fault.ts";
import { EXIT, type ExitCode } from "../../foundation/exit-codes.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, outJson } from "../context.ts";
import { faultText } from "../output/capabilities-text.ts";

const EXIT_OF: Readonly<Record<CapabilityCode, ExitCode>> = {
  capability_not_found: EXIT.no,
  capability_access_denied: EXIT.refused,
  capability_auth_required: EXIT.refused,
  capability_auth_flow_invalid: EXIT.no,
  capability_auth_flow_expired: EXIT.no,
  capability_auth_flow_denied: EXIT.refused,
  capability_auth_callback_invalid: EXIT.usage,
  capability_auth_code_conflict: EXIT.usage,
  capability_auth_state_mismatch: EXIT.refused,
  capability_auth_code_missing: EXIT.usage,
  capability_auth_flow_ambiguous: EXIT.usage,
  capability_account_ambiguous: EXIT.usage,
  capability_invalid_input: EXIT.usage,
  capability_invalid_output: EXIT.failed,
  capability_backend_unavailable: EXIT.failed,
  capability_mutation_not_confirmed: EXIT.refused,
  capability_mutation_plan_mismatch: EXIT.refused,
  capability_outcome_unknown: EXIT.failed,
  capability_rate_limited: EXIT.limited,
  capability_cancelled: EXIT.cancelled,
};

export function exitForFault({ code }: Pick<CapabilityFault, "code">): ExitCode {
  return Object.hasOwn(EXIT_OF, code) ? EXIT_OF[code as CapabilityCode] : EXIT.failed;
}

export function reportCapabilityFault(
  context: CliContext,
  { json }: Pick<CommonFlags, "json">,
  fault: CapabilityFault,
): void {
  endWith(context, exitForFault(fault));
  if (json) outJson(context, { error: fault });
  else err(context, faultText(fault));
}
