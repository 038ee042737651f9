import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

export const validate: DeclaredCommand = defineCommand({
  name: "validate",
  group: "Authoring",
  brief: "Check skill files, folders or whole trees",
  description:
    "Reports every problem with file, line and what to do. Exits 0 when all are valid, 1 when one is not or\nno skill was found. Without a path it checks everything below the working directory.",
  examples: [
    "metier validate my-skill",
    "metier validate --strict skills/",
    "metier validate --fix my-skill/SKILL.md",
    "metier validate --format sarif . > report.sarif",
  ],
  flags: {
    strict: {
      kind: "boolean",
      default: false,
      withNegated: false,
      brief: "The published specification to the letter (same as --profile strict)",
    },
    format: {
      kind: "enum",
      values: ["text", "json", "sarif", "github"],
      default: "text",
      brief: "How to print the result",
    },
    fix: { kind: "boolean", default: false, withNegated: false, brief: "Write the repairs that are safe" },
    watch: {
      kind: "boolean",
      default: false,
      withNegated: false,
      brief: "Check again on every change, until interrupted",
    },
  },
  positional: manyArguments("path", "Skill file, skill folder or folder of skills"),
  action: "validate",
});
