import { type DeclaredCommand, defineCommand, optionalArgument } from "./define.ts";

export const show: DeclaredCommand = defineCommand({
  name: "show",
  group: "Reading",
  brief: "Show one skill: its fields, place, trust, status and problems",
  description:
    "`scope:name` shows a skill that another one shadows. Without a name it lists all skills.\nExits 1 when there is no such skill.",
  examples: ["metier show summarize-text", "metier show project:deploy --json"],
  positional: optionalArgument("skill", "Name, or scope:name"),
  action: "show",
});
