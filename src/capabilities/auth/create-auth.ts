/** How users link accounts: begin, answer, poll, unlink. Each act is in a file of its own and in the audit log. */
import type { CapabilityCaller } from "../capability.ts";
import type { AuthFlow, CapabilityAuth } from "../capability-broker.ts";
import { findCapability } from "../find-capability.ts";
import { type AuthParts, performAct } from "./auth-parts.ts";
import { beginAuth } from "./begin-auth.ts";
import { completeAuth } from "./complete-auth.ts";
import { completeCallback } from "./complete-callback.ts";
import { showFlow } from "./flow-record.ts";
import { pollAuth } from "./poll-auth.ts";
import { unlinkAccount } from "./unlink-account.ts";

export function createAuth(parts: AuthParts): CapabilityAuth {
  return {
    begin: (caller, request) => performAct(parts, "auth-begin", caller, (act) => beginAuth(act, request)),
    list: (caller, filter) => listPending(parts, caller, filter),
    complete: (caller, request) =>
      performAct(parts, "auth-complete", caller, (act) => completeAuth(act, request)),
    completeCallback: (caller, callbackUrl) =>
      performAct(parts, "auth-complete", caller, (act) => completeCallback(act, callbackUrl)),
    poll: (caller, flowId) => performAct(parts, "auth-poll", caller, (act) => pollAuth(act, flowId)),
    unlink: (caller, request) => performAct(parts, "unlink", caller, (act) => unlinkAccount(act, request)),
  };
}

/** What is not for this chat or this run is left out. */
async function listPending(
  parts: AuthParts,
  caller: CapabilityCaller,
  { capability, account }: { readonly capability?: string; readonly account?: string } = {},
): Promise<readonly AuthFlow[]> {
  const flows = (await parts.flows.pending(caller.userId)).filter(
    (flow) =>
      (capability === undefined || flow.capability === capability) &&
      (account === undefined || flow.account === account.trim()),
  );
  const usable = await Promise.all(
    flows.map((flow) => findCapability(parts.registry, flow.capability, caller)),
  );
  return flows.filter((_, index) => usable[index]?.ok).map(showFlow);
}
