import { CALLER_FLAGS } from "../caller-flags.ts";
import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

const text = (placeholder: string, brief: string): object => ({
  kind: "parsed",
  parse: String,
  optional: true,
  placeholder,
  brief,
});
const yes = (brief: string): object => ({ kind: "boolean", default: false, withNegated: false, brief });

export const run: DeclaredCommand = defineCommand({
  name: "run",
  group: "Doing",
  brief: "Run a skill in isolation and print its result",
  description:
    "The skill gets a loop, tools and a sandbox of its own; its answer goes to standard output, what happens meanwhile to\nstandard error. Needs a model: a key in ANTHROPIC_API_KEY or OPENAI_API_KEY is enough. Exits 3 when the skill is\nrefused, 4 when a limit stopped it, 5 when it failed, 6 when there is no model, 130 when it was cancelled.",
  examples: [
    'metier run summarize-text "Summarize README.md in three lines"',
    'metier run research --input \'{"topic": "tides"}\' --max-iterations 5',
    "metier run triage-issue --dry-run",
    "metier run summarize-text --record run.jsonl",
    "metier run summarize-text --replay run.jsonl",
  ],
  flags: {
    context: text("text", "What the skill should know of the situation"),
    args: text("line", "Arguments, as on a command line: $ARGUMENTS, $0, $1 in the skill's text"),
    input: text("json", "Input for a skill with an input schema: JSON, or @file"),
    model: text("name", "An alias of your config, or provider/model"),
    envFile: text("file", "Values for the variables the skill declares, as NAME=value lines"),
    approve: yes("Answer yes to every question about tools; never beats a deny, never grants trust"),
    maxIterations: text("number", "How often the model may be asked"),
    timeout: text("seconds", "How long the run may take"),
    maxTokens: text("number", "How many tokens the run may use"),
    write: yes("Let a trusted skill change the working directory"),
    out: text("dir", "Copy the files of the work folder here afterwards"),
    dryRun: yes("Show prompt, tools, model, variables and sandbox; ask no model"),
    events: yes("Print every event as a line of JSON"),
    record: text("file", "Keep the run for a replay"),
    replay: text("file", "Replay a recorded run instead of asking a model"),
    ...CALLER_FLAGS,
  },
  positional: manyArguments("skill", "Name or scope:name, then optionally the task in words", 1),
  action: "run",
});
