/** Commands that look at skills and change nothing, and the tour. */
import { SCOPES } from "@metier/skills";
import {
  choiceFlag,
  type DeclaredCommand,
  defaultedFlag,
  defineCommand,
  type FlagsOf,
  listFlag,
  manyArguments,
  optionalArgument,
  switchFlag,
  textFlag,
} from "./define.ts";

export const list = defineCommand({
  name: "list",
  also: ["ls"],
  brief: "List skills, where they come from, and whether they can be used",
  description:
    "Groups skills by scope and shows the state of each with its reason: ✓ enabled, ○ disabled, ✗ unavailable, · shadowed by another skill with the same name. `metier doctor` explains problems.\n\nExits 0 even when some skills have problems.",
  examples: ["metier list", "metier list --usable", "metier list --path ./team-skills --json"],
  flags: {
    usable: switchFlag("Show only enabled skills"),
    scope: choiceFlag(SCOPES, "Show only this scope"),
  },
  from: () => import("../actions/list.ts"),
  action: "listAction",
});
export type ListFlags = FlagsOf<typeof list>;

const show = defineCommand({
  name: "show",
  also: ["info"],
  brief: "Show one skill: fields, location, trust, status and problems",
  description:
    "Use `scope:name` for a skill that another one shadows. Without a name, lists all skills.\n\nExits 1 when no skill has that name.",
  examples: ["metier show summarize-text", "metier show project:deploy --json"],
  positional: optionalArgument("skill", "Name or scope:name"),
  from: () => import("../actions/list.ts"),
  action: "showAction",
});

const read = defineCommand({
  name: "read",
  brief: "Print a skill's instructions, a section of them, or one of its files",
  description:
    "Without a file, prints the body of `SKILL.md`. With a file, prints that file; files outside the skill can't be read. `--outline` and `--section` work for both.\n\nExits 1 when the skill, section or file doesn't exist.",
  usage: ["<skill> [<file>]"],
  examples: [
    "metier read summarize-text",
    "metier read write-a-skill references/frontmatter.md",
    "metier read write-a-skill --outline",
    "metier read write-a-skill --section '5. Check it'",
  ],
  flags: {
    whole: switchFlag("Include the frontmatter"),
    wrapped: switchFlag("Print it as a model gets it, with the skill's folder and files"),
    outline: switchFlag("Print only the headings, numbered"),
    section: textFlag("heading", "Print only this section, by heading or number"),
    files: switchFlag("List the skill's files instead"),
  },
  positional: manyArguments("skill", "Name or scope:name, optionally followed by one of its files", 1),
  from: () => import("../actions/read.ts"),
  action: "readAction",
});
export type ReadFlags = FlagsOf<typeof read>;

const prompt = defineCommand({
  name: "prompt",
  brief: "Print what a model is told about the usable skills",
  description:
    "Prints the listing that goes into a system prompt. The same skills always give the same bytes, so prompt caches work. With `--budget`, skills that don't fit are named at the end and reported on stderr.",
  examples: [
    "metier prompt",
    "metier prompt --format markdown",
    "metier prompt --budget 4000 --deny 'old-*'",
  ],
  flags: {
    format: defaultedFlag(["xml", "markdown", "names", "json"], "xml", "Output format"),
    location: choiceFlag(["file", "directory", "mounted", "none"], "Location to print for each skill"),
    mountPath: textFlag("path", "Folder where the skills are mounted"),
    activation: defaultedFlag(["tool", "file", "none"], "tool", "How the model activates a skill"),
    budget: textFlag("tokens", "Print at most this many tokens"),
    allow: listFlag("glob", "Include only these names (repeatable)"),
    deny: listFlag("glob", "Leave out these names (repeatable)"),
  },
  from: () => import("../actions/read.ts"),
  action: "promptAction",
});
export type PromptFlags = FlagsOf<typeof prompt>;

const find = defineCommand({
  name: "find",
  also: ["search"],
  brief: "Search usable skills by what you want to do",
  description:
    "Ranks skills by name, description, tags and full text. Needs no network and no model.\n\nExits 1 when nothing matches.",
  examples: ["metier find extract tables from a PDF", "metier find -k 3 release notes --json"],
  flags: { number: textFlag("count", "Show at most this many (default: 10)") },
  aliases: { k: "number" },
  positional: manyArguments("words", "What you want to do, in your own words", 1),
  from: () => import("../actions/list.ts"),
  action: "findAction",
});
export type FindFlags = FlagsOf<typeof find>;

const match = defineCommand({
  name: "match",
  brief: "Show which skills' triggers match a message",
  description:
    "Checks the keywords, verbs and patterns under `triggers` in each usable skill and shows why one matched.\n\nExits 1 when nothing matches.",
  examples: ["metier match 'please greet the visitors'"],
  positional: manyArguments("text", "The message", 1),
  from: () => import("../actions/list.ts"),
  action: "matchAction",
});

const doctor = defineCommand({
  name: "doctor",
  brief: "Check the setup and explain what can't be used and why",
  description:
    "Shows the environment, the config and where each value comes from, every folder searched, every skill that can't be used, name clashes, capability providers, linked accounts, and every problem. With a name, explains that skill.",
  examples: ["metier doctor", "metier doctor gh", "metier doctor --json"],
  positional: optionalArgument("skill", "Explain only this skill"),
  from: () => import("../actions/doctor.ts"),
  action: "doctorAction",
});

/** What `npm start` shows; left out of the overview, since it is about this repository. */
export const tour = defineCommand({
  name: "tour",
  brief: "Take a short guided tour of the bundled skills",
  description: "Finds, explains and checks skills in a temporary folder. Needs no model and no network.",
  examples: ["metier tour"],
  from: () => import("../actions/tour.ts"),
  action: "tourAction",
});

/** In overview order. */
export const READING: readonly DeclaredCommand[] = [list, show, read, prompt, find, match, doctor];
