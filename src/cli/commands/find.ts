import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

export const find: DeclaredCommand = defineCommand({
  name: "find",
  group: "Reading",
  brief: "Find the skills that fit a request in words",
  description:
    "Ranks the usable skills by name, description, tags and the whole text, without a network or a model.\nExits 1 when nothing fits.",
  examples: ["metier find extract tables from a PDF", "metier find -k 3 release notes --json"],
  flags: {
    number: {
      kind: "parsed",
      parse: String,
      optional: true,
      placeholder: "number",
      brief: "At most this many (default 10)",
    },
  },
  aliases: { k: "number" },
  positional: manyArguments("words", "The request, in any words", 1),
  action: "find",
});

export const match: DeclaredCommand = defineCommand({
  name: "match",
  group: "Reading",
  brief: "Say which skills' triggers fit a message",
  description:
    "Keywords, verbs and patterns under `triggers` of the usable skills, with the reasons. Exits 1 when none fits.",
  examples: ["metier match 'please greet the visitors'"],
  positional: manyArguments("text", "What a user wrote", 1),
  action: "match",
});
