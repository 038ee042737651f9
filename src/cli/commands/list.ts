import { SCOPES } from "../../skill/scope.ts";
import { type DeclaredCommand, defineCommand } from "./define.ts";

export const list: DeclaredCommand = defineCommand({
  name: "list",
  group: "Reading",
  brief: "List the skills, where they come from and whether they can be used",
  description:
    "Skills are grouped by scope: ✓ enabled, ○ disabled, ✗ unavailable, · shadowed by another of that name,\neach with the reason. Exits 0 whatever it finds wrong; `metier doctor` explains.",
  examples: ["metier list", "metier list --usable", "metier list --path ./team-skills --json"],
  flags: {
    usable: { kind: "boolean", default: false, withNegated: false, brief: "Only the enabled ones" },
    scope: { kind: "enum", values: SCOPES, optional: true, brief: "Only this scope" },
  },
  action: "list",
});
