/** The variables of a run's processes, as they may be given now. */
import type { ConversationMemory } from "../invoke/inline.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";

/** Declared variables with their values; once an untrusted text is in the conversation it serves, no secret any more. */
export function deliverValues(
  { env }: Pick<PreparedInvocation, "env">,
  memory?: Pick<ConversationMemory, "trust">,
): Readonly<Record<string, string>> {
  const isTainted = memory?.trust.taintedBy !== undefined;
  const given = Object.entries(env).filter(([, { secret }]) => !(secret && isTainted));
  return Object.fromEntries(given.map(([name, { value }]) => [name, value]));
}
