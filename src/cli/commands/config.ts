import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

export const config: DeclaredCommand = defineCommand({
  name: "config",
  group: "Managing",
  brief: "Show the configuration and its origin, or change it",
  description:
    "Without arguments: every value that is set. `get KEY`, `set KEY VALUE`, `unset KEY` and `path` work on one key or\nsay which files are read. Secrets are never printed. Exits 2 when a config file is broken.",
  examples: [
    "metier config --explain",
    "metier config get skills.paths",
    "metier config set skills.paths '[\"~/team-skills\"]'",
    "metier config unset skills.preset",
  ],
  flags: {
    explain: {
      kind: "boolean",
      default: false,
      withNegated: false,
      brief: "Say where each value came from and what it overrode",
    },
    project: {
      kind: "boolean",
      default: false,
      withNegated: false,
      brief: "Write the project's config instead of your own",
    },
  },
  positional: manyArguments("action", "get KEY, set KEY VALUE, unset KEY or path"),
  action: "config",
});
