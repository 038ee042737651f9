import { CALLER_FLAGS } from "../caller-flags.ts";
import { type DeclaredCommand, defineCommand, manyArguments, switchFlag, textFlag } from "./define.ts";

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
    context: textFlag("text", "What the skill should know of the situation"),
    args: textFlag("line", "Arguments, as on a command line: $ARGUMENTS, $0, $1 in the skill's text"),
    input: textFlag("json", "Input for a skill with an input schema: JSON, or @file"),
    model: textFlag("name", "An alias of your config, or provider/model"),
    variables: textFlag("file", "Values for the variables the skill declares, as NAME=value lines"),
    envFile: textFlag("file", "The same; but Node reads this option too, and ends with 9 without the file"),
    approve: switchFlag("Answer yes to every question about tools; never beats a deny, never grants trust"),
    maxIterations: textFlag("number", "How often the model may be asked"),
    timeout: textFlag("seconds", "How long the run may take"),
    maxTokens: textFlag("number", "How many tokens the run may use"),
    write: switchFlag("Let a trusted skill change the working directory"),
    out: textFlag("dir", "Copy the files of the work folder here afterwards"),
    dryRun: switchFlag("Show prompt, tools, model, variables and sandbox; ask no model"),
    events: switchFlag("Print every event as a line of JSON"),
    record: textFlag("file", "Keep the run for a replay"),
    replay: textFlag("file", "Replay a recorded run instead of asking a model"),
    ...CALLER_FLAGS,
  },
  positional: manyArguments("skill", "Name or scope:name, then optionally the task in words", 1),
  action: "run",
});
