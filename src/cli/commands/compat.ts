import { type DeclaredCommand, defineCommand, manyArguments, switchFlag } from "./define.ts";

export const compat: DeclaredCommand = defineCommand({
  name: "compat",
  group: "Authoring",
  brief: "Tell how other clients read a skill",
  description:
    "For each known client: which fields it honours, which it ignores, and what keeps it from loading the skill. Every fact\nnames the version or day it was seen in; clients change. Exits 1 when something breaks in one of them; clients\nmarked `*` are used by few and count only when --client names them. --fix rewrites what can be rewritten so that Metier reads\nthe same skill: spellings, forms of values, `version`, `author`, `tags` and `requires` below `metadata`.",
  examples: [
    "metier compat my-skill",
    "metier compat my-skill --client codex,claude-code",
    "metier compat --fix my-skill",
    "metier compat --json skills/",
  ],
  flags: {
    client: {
      kind: "parsed",
      parse: String,
      optional: true,
      variadic: ",",
      placeholder: "client",
      brief: "Only this client: claude-code, codex, … (repeatable)",
    },
    fix: switchFlag("Rewrite the skill file where nothing is lost, and show the difference"),
  },
  positional: manyArguments("skill", "Skill folder, skill file, folder of skills, or name of a skill", 1),
  action: "compat",
});
