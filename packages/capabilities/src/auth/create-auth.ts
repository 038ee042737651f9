/** How users link accounts and unlink them: begin, answer, poll, unlink. Each act is in the audit log. */
import { showValue } from "@metier/base/text";
import { isCapabilityId } from "@metier/skills";
import { checkVisible, findCapability } from "../access.ts";
import { chooseAccount } from "../accounts.ts";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityCaller,
  type CapabilityFault,
} from "../capability.ts";
import type { AuthFlow, CapabilityAuth } from "../capability-broker.ts";
import { type AuthAct, type AuthParts, performAct } from "./auth-act.ts";
import { beginSignIn } from "./begin-sign-in.ts";
import { completeCallback, completeSignIn, pollSignIn } from "./complete-sign-in.ts";
import { showFlow } from "./flow-store.ts";
import { releaseAccount } from "./release-account.ts";

export function createAuth(parts: AuthParts): CapabilityAuth {
  return {
    begin: (caller, request) => performAct(parts, "auth-begin", caller, (act) => beginSignIn(act, request)),
    list: (caller, filter) => listPending(parts, caller, filter),
    complete: (caller, request) =>
      performAct(parts, "auth-complete", caller, (act) => completeSignIn(act, request)),
    completeCallback: (caller, callbackUrl) =>
      performAct(parts, "auth-complete", caller, (act) => completeCallback(act, callbackUrl)),
    poll: (caller, flowId) => performAct(parts, "auth-poll", caller, (act) => pollSignIn(act, flowId)),
    unlink: (caller, request) => performAct(parts, "unlink", caller, (act) => unlinkAccount(act, request)),
  };
}

/** What is not for this chat or this run is left out. */
async function listPending(
  parts: AuthParts,
  caller: CapabilityCaller,
  { capability, account }: NonNullable<Parameters<CapabilityAuth["list"]>[1]> = {},
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

/**
 * It is no longer used from then on, and what the vault keeps for it is gone, whatever the provider does. Works as well for
 * a capability whose provider is no longer there.
 */
async function unlinkAccount(
  act: AuthAct,
  { capability, account: wanted }: Parameters<CapabilityAuth["unlink"]>[1],
): Promise<Answer<{ readonly account: string }>> {
  const { parts, caller } = act;
  act.audit.know({ capability: isCapabilityId(capability) ? capability : "(invalid)" });
  const denied = await whyDenied(act, capability);
  if (denied) return { ok: false, fault: denied };
  const linked = await parts.accounts.list(caller.userId, capability);
  const meant =
    linked.length > 0 ? chooseAccount(capability, { requiresAuth: true }, linked, wanted) : undefined;
  if (meant?.ok === false) return meant;
  const account = meant?.value;
  if (account === undefined) {
    return answerFault("capability_invalid_input", `No account is linked to ${showValue(capability)}.`, {
      hint: "There is nothing to unlink; `capability list` shows which accounts are linked.",
    });
  }
  const { accountRef } = account;
  act.audit.know({ account: accountRef });
  await act.recordIntent();
  await parts.accounts.remove(caller.userId, capability, accountRef);
  await releaseAccount(parts, caller, capability, account);
  return answerWith({ account: accountRef });
}

/** A run may only touch what its skill declares, also where nobody offers it any more. */
async function whyDenied(
  { parts, caller }: AuthAct,
  capability: string,
): Promise<CapabilityFault | undefined> {
  const found = await parts.registry.find(capability);
  return checkVisible(found?.definition ?? { id: capability, sensitive: false }, caller);
}
