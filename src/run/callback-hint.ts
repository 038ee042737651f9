/**
 * A user who signs in pastes the address the browser ended at, or the code from it. A model that passes the task on tends to
 * tell it in other words, so the user's own message is looked at, for skills that use capabilities.
 */
import { recogniseCallback } from "../capabilities/auth/recognise-callback.ts";

const HINT =
  "The user's own message holds the answer of a sign-in. List the sign-ins that are pending, complete the newest one that fits with exactly what the user sent, and begin a new one only if none is pending.";

export function callbackHint(
  capabilities: readonly string[],
  userMessage: string | undefined,
): string | undefined {
  if (capabilities.length === 0 || userMessage === undefined) return undefined;
  return recogniseCallback(userMessage) ? HINT : undefined;
}
