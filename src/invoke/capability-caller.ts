/** Who asks, as the capabilities know them: for whom it is done is never guessed. */
import type { CapabilityCaller } from "../capabilities/capability.ts";
import type { Caller } from "./invocation.ts";

/** `undefined`: it is not known who asks, so nothing can be done for them. */
export function toCapabilityCaller(caller: Caller = {}): CapabilityCaller | undefined {
  const { userId, sessionId, isLocal: _, ...chat } = caller;
  if (!userId?.trim()) return undefined;
  return { ...chat, userId, ...(sessionId !== undefined && { sessionKey: sessionId }) };
}
