/**
 * What we keep on disk for a user cannot be used: a damaged file, a key that is not private, a keychain that is locked. A
 * fault of the host, so it is thrown; it hits the user whose file it is, and callers are told with `tellStateError`.
 */
import { MetierError } from "../foundation/errors.ts";
import { type Answer, refuse } from "./capability-fault.ts";

export class CapabilityStateError extends MetierError {
  constructor(message: string, hint: string) {
    super("capability.state", message, { hint });
  }
}

/** Makes an answer of it; anything else is thrown on. */
export async function tellStateError<Value>(work: () => Promise<Answer<Value>>): Promise<Answer<Value>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CapabilityStateError)) throw error;
    const { message, hint } = error;
    return refuse("capability_backend_unavailable", message, hint === undefined ? {} : { hint });
  }
}
