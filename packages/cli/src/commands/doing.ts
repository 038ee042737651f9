/** Commands that let skills do something, and show what was done. */
import {
  APPROVE_FLAG,
  CALLER_FLAGS,
  type DeclaredCommand,
  defineCommand,
  type FlagsOf,
  MODEL_FLAG,
  manyArguments,
  optionalArgument,
  switchFlag,
  textFlag,
  VARIABLES_FLAG,
} from "./define.ts";

const init = defineCommand({
  name: "init",
  brief: "Choose a model: finds what you have, tests it and writes your config",
  description:
    "Start here. Looks for keys in your environment, for Ollama, LM Studio, llama.cpp\nand vLLM on this machine, for GGUF files and for your own `claude` program. With a\npath, looks for GGUF files there. Lets you choose, makes one short test call and\nwrites `[models.default]` to your config. Without a\nterminal, `--yes` takes the first model that answers. Exits 1 when nothing was\nchosen, 6 when no model was found or none answered.",
  examples: ["metier init", "metier init --yes", "metier init ~/Downloads/qwen3-8b.gguf"],
  flags: {
    yes: switchFlag("Take the best model that answers, without asking"),
    replace: switchFlag("Replace the default model you have"),
  },
  positional: optionalArgument("path", "GGUF file, or folder to look for GGUF files in"),
  from: () => import("../actions/init.ts"),
  action: "initAction",
});
export type InitFlags = FlagsOf<typeof init>;

const run = defineCommand({
  name: "run",
  brief: "Run a skill in isolation and print its result",
  description:
    "The skill runs in its own loop with its own tools and sandbox. The answer goes to stdout, progress to stderr. Piped text is the message; with a message, stdin is read only for `-`. Needs a model: `metier init` finds one.\n\nWith `--durable`, the run survives its process. Questions wait for an answer even if nobody is there. Ctrl-C gives the run back, and `metier runs resume <id>` continues it.\n\nExits 3 when the skill is refused or a durable run waits for an answer, 4 when a limit stopped the run, 5 when it failed. Exits 6 when there is no model or another process holds the durable runs, 130 when you cancel it.",
  usage: ["<skill> [<task>...]"],
  examples: [
    'metier run summarize-text "Summarize README.md in three lines"',
    'metier run research --input \'{"topic": "tides"}\' --max-iterations 5',
    "git diff | metier run summarize-text",
    'git diff | metier run summarize-text "Summarize this:" -',
    'metier run ./my-skill "Try it"',
    "metier run triage-issue --dry-run",
    'metier run review-migration "Check db/" --durable',
    "metier run summarize-text --record run.jsonl",
    "metier run summarize-text --replay run.jsonl",
  ],
  flags: {
    context: textFlag("text", "Background the skill should know"),
    args: textFlag("line", "Arguments for $ARGUMENTS, $0, $1 in the skill's text"),
    input: textFlag("json", "Input for a skill with an input schema: JSON or @file"),
    model: MODEL_FLAG,
    variables: VARIABLES_FLAG,
    envFile: textFlag("file", "Same as --variables; Node also reads it and exits 9 if the file is missing"),
    approve: APPROVE_FLAG,
    maxIterations: textFlag("count", "Stop after this many calls to the model"),
    timeout: textFlag("seconds", "Stop the run after this many seconds"),
    maxTokens: textFlag("tokens", "Stop when the run has used this many tokens"),
    maxCost: textFlag("amount", "Stop when the run has cost this much, such as 0.50"),
    write: switchFlag("Let a trusted skill write to the working directory"),
    out: textFlag("dir", "Copy files from the work folder here when the run ends"),
    dryRun: switchFlag("Show prompt, tools, model, variables and sandbox without calling a model"),
    events: switchFlag("Print each event as a line of JSON"),
    quiet: switchFlag("Show only the answer and what went wrong"),
    durable: switchFlag("Record each step, so that `metier runs resume` can continue after any interruption"),
    record: textFlag("file", "Record the run for a replay"),
    replay: textFlag("file", "Replay a recorded run instead of calling a model"),
    ...CALLER_FLAGS,
  },
  positional: manyArguments("skill", "Name, scope:name or path, then the task in words; - is stdin", 1),
  from: () => import("../actions/run.ts"),
  action: "runAction",
});
export type RunFlags = FlagsOf<typeof run>;

const chat = defineCommand({
  name: "chat",
  brief: "Chat with a model that can use your skills",
  description:
    "Type `/name arguments` to call a skill or a custom command (from `.claude/commands` or `.metier/commands`) yourself. With a message, prints one answer to stdout. Without one, starts a conversation in the terminal; type `/help` there for more. `--continue` resumes the last chat.\n\nExits 3 when a skill is refused, 4 when a limit stopped the answer, 5 when it failed, 6 when there is no model, 130 when you cancel it.",
  examples: [
    "metier chat",
    'metier chat "What do my notes say about tides?"',
    'metier chat "/summarize-text README.md" --json',
    "metier chat --model fast --max-tokens 200000 --write",
    "metier chat --continue",
  ],
  flags: {
    model: MODEL_FLAG,
    approve: APPROVE_FLAG,
    maxTokens: textFlag("tokens", "Token limit for the conversation and the skills it runs"),
    maxCost: textFlag("amount", "Stop when the conversation has cost this much, such as 0.50"),
    write: switchFlag("Let tools write to the working directory"),
    continue: switchFlag("Continue the last chat of this folder"),
    ...CALLER_FLAGS,
  },
  positional: manyArguments("message", "Your message; - is stdin; leave it out to start a conversation"),
  from: () => import("../actions/chat.ts"),
  action: "chatAction",
});
export type ChatFlags = FlagsOf<typeof chat>;

const script = defineCommand({
  name: "script",
  brief: "Run a skill's script in its sandbox",
  description:
    "Passes on the script's output as it appears, and piped input to the script. Without a script, lists the scripts of the skill. Needs no model.\n\nExits 0 when the script does, 1 when it doesn't exist, 3 when the skill is refused, 4 when a limit stopped the script. Exits 5 when it ends with another exit code, 6 when the sandbox or a program is missing, 130 when you cancel it.",
  usage: ["<skill> [<script> [<argument>...]]"],
  examples: [
    "metier script pdf",
    "metier script pdf scripts/extract.py report.pdf",
    "metier script pdf scripts/extract.py -- --pages 1-3 report.pdf",
    'echo \'{"city": "Oslo"}\' | metier script weather scripts/forecast.ts --json',
  ],
  flags: {
    stdin: textFlag("file", "Standard input for the script; - is what you pipe in"),
    timeout: textFlag(
      "seconds",
      "Stop the script after this many seconds (default: skills.script-timeout-ms)",
    ),
    write: switchFlag("Let a trusted skill's script write to the working directory"),
    variables: VARIABLES_FLAG,
    ...CALLER_FLAGS,
  },
  positional: manyArguments(
    "skill",
    "The skill, then its script and arguments; put options for the script after --",
    1,
  ),
  from: () => import("../actions/script.ts"),
  action: "scriptAction",
});
export type ScriptFlags = FlagsOf<typeof script>;

const runs = defineCommand({
  name: "runs",
  brief: "List, inspect, export, count, delete or resume runs",
  description:
    "Metier keeps the events and the work folder of every run for 30 days. You can shorten an id as long as it stays unique. `resume` continues a durable run (`metier run --durable`) that waits or whose process ended: in the folder it was started in, with the same skill and config. If those have changed, the run ends and says so.\n\nExits 1 when the run doesn't exist. `resume` exits like `metier run`.",
  actions: {
    list: "List runs, newest first (the default)",
    "show <id>": "Show a run step by step",
    stats: "Count runs, tokens and times for each skill",
    "export <id>": "Print a run's events as JSON lines, which `metier run --replay` can read",
    "delete <id>...": "Delete runs; or use `delete --older-than <age>`",
    "resume <id>": "Continue a durable run and answer its questions",
  },
  examples: [
    "metier runs",
    "metier runs list --skill research --number 5",
    "metier runs --since 2d --failed",
    "metier runs show mf3k2a",
    "metier runs export mf3k2a -o run.jsonl",
    "metier runs export mf3k2a --html -o run.html",
    "metier runs stats --json",
    "metier runs delete --older-than 7d",
    "metier runs resume mf3k2a",
  ],
  flags: {
    skill: textFlag("name", "Only runs of this skill (list, stats)"),
    since: textFlag("when", "Only runs since this age or date: 12h, 7d, 2026-03-01 (list, stats)"),
    failed: switchFlag("Only runs that failed, hit a limit or were refused (list, stats)"),
    number: textFlag("count", "Show at most this many (list; default: 20)"),
    olderThan: textFlag("age", "Delete runs older than this: 90m, 12h, 30d, 4w (delete)"),
    output: textFlag("file", "Write to this new file instead of stdout (export)"),
    html: switchFlag("Write one HTML page that needs no server, instead of JSON lines (export)"),
    approve: switchFlag("Say yes to every tool call that asks (resume)"),
  },
  aliases: { n: "number", o: "output" },
  positional: manyArguments("action", "What to do"),
  from: () => import("../actions/runs.ts"),
  action: "runsAction",
});
export type RunsFlags = FlagsOf<typeof runs>;

const inspect = defineCommand({
  name: "inspect",
  brief: "See skills, runs and approvals in your browser",
  description:
    "Opens a page on this machine with your skills and why each can or can't be used, the plan of a run before it starts, runs as they happen, approvals, statistics, evals and routing. It needs no service and changes nothing by itself. You can start runs there and answer their questions. It also shows runs from terminals and from `metier serve`, but can't control them.\n\nPrints an address that signs you in, and opens it when there is a screen. Only this machine can reach it, and only someone who has the address. Ctrl-C stops it and cancels the runs started there.\n\nExits 6 when this Node has no SQLite.",
  examples: ["metier inspect", "metier inspect --port 4000 --no-open", "metier inspect --allow-edit"],
  flags: {
    port: textFlag("number", "Port to listen on (default: a free port)"),
    noOpen: switchFlag("Print the address without opening a browser"),
    allowEdit: switchFlag('Allow "always" answers to approvals, which add a rule to your config'),
  },
  from: () => import("../actions/inspect.ts"),
  action: "inspectAction",
});
export type InspectFlags = FlagsOf<typeof inspect>;

/** In overview order. */
export const DOING: readonly DeclaredCommand[] = [init, run, chat, script, runs, inspect];
