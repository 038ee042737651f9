/** `metier capability`: reads which action is meant. What they do is loaded apart, since few commands need it. */
import { UsageError } from "../../foundation/errors.ts";
import type { CapabilityFlags } from "../capability/capability-action.ts";
import type { CliContext } from "../context.ts";
import { openMetier } from "../open-metier.ts";

const USES = [
  "list",
  "providers",
  "invoke ID OPERATION",
  "auth begin ID",
  "auth list",
  "auth complete FLOW",
  "auth poll FLOW",
  "auth unlink ID",
];

export async function run(
  context: CliContext,
  flags: CapabilityFlags,
  ...words: readonly string[]
): Promise<void> {
  const { CAPABILITY_ACTIONS } = await import("../capability/actions.ts");
  const [first = "list", second = "", ...more] = words;
  const [name, rest] = first === "auth" ? [`auth ${second}`, more] : [first, words.slice(1)];
  const action = Object.hasOwn(CAPABILITY_ACTIONS, name) ? CAPABILITY_ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`\`${name.trim()}\` is no action of \`metier capability\`.`, {
      hint: `Use ${USES.join(", ")}.`,
    });
  }
  const metier = await openMetier(context, flags);
  try {
    await action({ context, flags, metier, words: rest });
  } finally {
    await metier.capabilities.close();
  }
}
