import { TEMPLATE_NAMES } from "../new-skill/template-names.ts";
import { type DeclaredCommand, defineCommand, requiredArgument } from "./define.ts";

export const newSkill: DeclaredCommand = defineCommand({
  name: "new",
  group: "Authoring",
  brief: "Create a skill that passes `validate --strict`",
  description:
    "Writes `<name>/SKILL.md` into the working directory, or with --project into `.metier/skills` and with --user\ninto `~/.metier/skills`. Never overwrites anything.",
  examples: ["metier new review-migration", "metier new fill-form --template script --project"],
  flags: {
    template: { kind: "enum", values: TEMPLATE_NAMES, default: "basic", brief: "What to begin with" },
    description: {
      kind: "parsed",
      parse: String,
      optional: true,
      placeholder: "text",
      brief: "What the skill does and when to use it",
    },
    project: {
      kind: "boolean",
      default: false,
      withNegated: false,
      brief: "Create it in this project's skills",
    },
    user: { kind: "boolean", default: false, withNegated: false, brief: "Create it in your own skills" },
  },
  positional: requiredArgument("name", "Lower-case letters, digits and hyphens"),
  action: "newSkill",
});
