import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

export const read: DeclaredCommand = defineCommand({
  name: "read",
  group: "Reading",
  brief: "Print a skill's instructions, one section of them, or one of its files",
  description:
    "Without a file: the body of the skill file, read and checked anew. With one: that file of the skill, and nothing\noutside of it; --outline and --section work for it too. Exits 1 when there is no such skill, section or file.",
  examples: [
    "metier read summarize-text",
    "metier read write-a-skill references/frontmatter.md",
    "metier read write-a-skill --outline",
    "metier read write-a-skill --section '5. Check it'",
  ],
  flags: {
    whole: { kind: "boolean", default: false, withNegated: false, brief: "With the frontmatter" },
    wrapped: {
      kind: "boolean",
      default: false,
      withNegated: false,
      brief: "As a model is given it, with the skill's folder and files",
    },
    outline: { kind: "boolean", default: false, withNegated: false, brief: "Only the headings, numbered" },
    section: {
      kind: "parsed",
      parse: String,
      optional: true,
      placeholder: "heading",
      brief: "Only this section: its heading or number",
    },
    files: { kind: "boolean", default: false, withNegated: false, brief: "List the skill's files instead" },
  },
  positional: manyArguments("skill", "Name or scope:name, then optionally one of its files", 1),
  action: "read",
});
