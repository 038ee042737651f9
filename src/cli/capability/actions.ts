/** The actions of `metier capability` by name. */
import { beginAuth, completeAuth, listFlows, pollAuth, unlinkAccount } from "./auth-actions.ts";
import type { CapabilityAction } from "./capability-action.ts";
import { invokeCapability } from "./invoke-action.ts";
import { listCapabilities, listProviders } from "./list-actions.ts";

export const CAPABILITY_ACTIONS: Readonly<Record<string, CapabilityAction>> = {
  list: listCapabilities,
  providers: listProviders,
  invoke: invokeCapability,
  "auth begin": beginAuth,
  "auth list": listFlows,
  "auth complete": completeAuth,
  "auth poll": pollAuth,
  "auth unlink": unlinkAccount,
};
