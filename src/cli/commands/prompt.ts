import { type DeclaredCommand, defineCommand } from "./define.ts";

const text = (value: string): string => value;

export const prompt: DeclaredCommand = defineCommand({
  name: "prompt",
  group: "Reading",
  brief: "Print what a model is told about the usable skills",
  description:
    "The tier-1 listing: the same skills give the same bytes, so that prompt caches hold. With --budget it stays within\nthat many tokens, names what it left out, and tells the rest on standard error.",
  examples: [
    "metier prompt",
    "metier prompt --format markdown",
    "metier prompt --budget 4000 --deny 'old-*'",
  ],
  flags: {
    format: {
      kind: "enum",
      values: ["xml", "markdown", "names", "json"],
      default: "xml",
      brief: "How to write it",
    },
    location: {
      kind: "enum",
      values: ["file", "directory", "mounted", "none"],
      optional: true,
      brief: "Which place to name for each skill",
    },
    mountPath: {
      kind: "parsed",
      parse: text,
      optional: true,
      placeholder: "path",
      brief: "Where the skills are mounted",
    },
    activation: {
      kind: "enum",
      values: ["tool", "file", "none"],
      default: "tool",
      brief: "How the model is to use a skill",
    },
    budget: {
      kind: "parsed",
      parse: text,
      optional: true,
      placeholder: "tokens",
      brief: "At most this many tokens",
    },
    allow: {
      kind: "parsed",
      parse: text,
      optional: true,
      variadic: true,
      placeholder: "glob",
      brief: "Only these names (repeatable)",
    },
    deny: {
      kind: "parsed",
      parse: text,
      optional: true,
      variadic: true,
      placeholder: "glob",
      brief: "Not these names (repeatable)",
    },
  },
  action: "prompt",
});
