import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

export const runs: DeclaredCommand = defineCommand({
  name: "runs",
  group: "Doing",
  brief: "List what was run, show a run, count how skills are used, or delete runs",
  description:
    "Every run keeps its events and its work folder for 30 days. `list` (the default) and `stats` cover what is kept;\n`show ID` tells what happened step by step; `delete ID…` and `delete --older-than AGE` remove it. An id may be\nshortened as long as it is unique. Exits 1 when there is no such run.",
  examples: [
    "metier runs",
    "metier runs list --skill research --number 5",
    "metier runs show mf3k2a",
    "metier runs stats --json",
    "metier runs delete --older-than 7d",
  ],
  flags: {
    skill: {
      kind: "parsed",
      parse: String,
      optional: true,
      placeholder: "name",
      brief: "Only runs of this skill (list, stats)",
    },
    number: {
      kind: "parsed",
      parse: String,
      optional: true,
      placeholder: "number",
      brief: "At most this many, the newest ones (list; default 20)",
    },
    olderThan: {
      kind: "parsed",
      parse: String,
      optional: true,
      placeholder: "age",
      brief: "Runs that began longer ago: 12h, 30d, 4w (delete)",
    },
  },
  aliases: { n: "number" },
  positional: manyArguments("action", "list, show ID, stats or delete ID…"),
  action: "runs",
});
