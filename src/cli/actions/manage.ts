/** `metier skill manage` without an action. */
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, out, outJson } from "../context.ts";

const ACTIONS = {
  "enable <skill>": "Enable a skill in your config",
  "disable <skill>": "Disable a skill in your config",
  "update [skill…]": "Review and take new versions of installed skills",
  "remove <skill>": "Remove an installed skill",
  list: "List installed skills",
};

export async function run(context: CliContext, { json }: CommonFlags): Promise<void> {
  if (json) {
    outJson(context, { actions: Object.keys(ACTIONS).map((usage) => usage.split(" ")[0]) });
    return;
  }
  const lines = Object.entries(ACTIONS).map(([usage, brief]) => `  ${usage.padEnd(16)}  ${brief}`);
  out(context, ["Usage: metier skill manage <action>", "", ...lines].join("\n"));
}
