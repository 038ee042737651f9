/** How users link and unlink accounts: begin, answer, poll, unlink. Each step is in the audit log. */
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

/** Leaves out what this chat or run may not use. */
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
 * Stops its use at once and deletes its secrets from the vault, whatever the provider does. Also works if the
 * capability's provider no longer exists.
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
      hint: "There is nothing to unlink; see the linked accounts with `capability list`.",
    });
  }
  const { accountRef } = account;
  act.audit.know({ account: accountRef });
  await act.recordIntent();
  await parts.accounts.remove(caller.userId, capability, accountRef);
  await releaseAccount(parts, caller, capability, account);
  return answerWith({ account: accountRef });
}

/** A run may touch only what its skill declares, even if nobody offers it anymore. */
async function whyDenied(
  { parts, caller }: AuthAct,
  capability: string,
): Promise<CapabilityFault | undefined> {
  const found = await parts.registry.find(capability);
  return checkVisible(found?.definition ?? { id: capability, sensitive: false }, caller);
}
