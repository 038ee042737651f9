import { type DeclaredCommand, defineCommand, optionalArgument } from "./define.ts";

export const doctor: DeclaredCommand = defineCommand({
  name: "doctor",
  group: "Reading",
  brief: "Explain what was found, what is not usable and why",
  description:
    "The environment, the config and its origin, every directory looked at, every skill that is not usable,\nwhat shadows what, providers of capabilities and linked accounts, and every problem. With a name it explains that skill.",
  examples: ["metier doctor", "metier doctor gh", "metier doctor --json"],
  positional: optionalArgument("skill", "Explain this skill alone"),
  action: "doctor",
});
