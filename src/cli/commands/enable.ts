import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

const flags = {
  project: {
    kind: "boolean",
    default: false,
    withNegated: false,
    brief: "Write the project's config instead of your own",
  },
} as const;

export const enable: DeclaredCommand = defineCommand({
  name: "enable",
  group: "Managing",
  brief: "Enable a skill in your config",
  description: "Writes `[skills.<name>] enabled = true`; comments in the file are kept.",
  examples: ["metier enable triage-issue"],
  flags,
  positional: manyArguments("skill", "Name of the skill", 1),
  action: "enable",
});

export const disable: DeclaredCommand = defineCommand({
  name: "disable",
  group: "Managing",
  brief: "Disable a skill in your config",
  description:
    "Writes `[skills.<name>] enabled = false`; the skill is neither listed to a model nor invocable.",
  examples: ["metier disable triage-issue", "metier disable deploy --project"],
  flags,
  positional: manyArguments("skill", "Name of the skill", 1),
  action: "disable",
});
