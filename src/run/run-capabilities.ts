/** What the running stage needs of the capabilities: given once by `src/runtime`, the same for all runs. */
import type { CapabilityBroker, ConfirmMutation } from "../capabilities/capability-broker.ts";

export interface RunCapabilities {
  /** Loaded when a skill first needs it; the same one every time. */
  broker(): Promise<CapabilityBroker>;
  /** Asked before a change, where the request for a run brings nobody to ask. Absent: nobody can be asked, so no. */
  readonly confirm?: ConfirmMutation;
}
