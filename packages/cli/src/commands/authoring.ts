/** Commands for skill authors. */
import { SCAN_SEVERITIES } from "@metier/skills/config";
import {
  APPROVE_FLAG,
  type DeclaredCommand,
  defaultedFlag,
  defineCommand,
  type FlagsOf,
  listFlag,
  MODEL_FLAG,
  manyArguments,
  optionalArgument,
  requiredArgument,
  switchFlag,
  textFlag,
} from "./define.ts";

/** The templates of `metier new`. */
const TEMPLATE_NAMES = ["basic", "script", "reference"] as const;

const newSkill = defineCommand({
  name: "new",
  brief: "Create a skill with a test and an eval that run",
  description:
    "Writes `<name>/SKILL.md` with a test and an eval that run to the working directory, with `--project` to `.metier/skills`, and with `--user` to `~/.metier/skills`. Never overwrites a file.",
  examples: ["metier new review-migration", "metier new fill-form --template script --project"],
  flags: {
    template: defaultedFlag(TEMPLATE_NAMES, "basic", "Starting point"),
    description: textFlag("text", "What the skill does and when to use it"),
    project: switchFlag("Create it in this project's skills"),
    user: switchFlag("Create it in your own skills"),
  },
  positional: requiredArgument("name", "Lower-case letters, digits and hyphens"),
  from: () => import("../actions/new.ts"),
  action: "newAction",
});
export type NewFlags = FlagsOf<typeof newSkill>;

const validate = defineCommand({
  name: "validate",
  brief: "Check skill files, skill folders or whole trees",
  description:
    "Reports every problem with its file, line and fix. Without a path, checks everything below the working directory.\n\nExits 0 when all skills are valid, 1 when one isn't or no skill was found.",
  examples: [
    "metier validate my-skill",
    "metier validate --strict skills/",
    "metier validate --fix my-skill/SKILL.md",
    "metier validate --format sarif . > report.sarif",
  ],
  flags: {
    strict: switchFlag("Apply the published specification to the letter (same as --profile strict)"),
    format: defaultedFlag(["text", "json", "sarif", "github"], "text", "Output format"),
    fix: switchFlag("Apply safe repairs"),
    watch: switchFlag("Check again on every change until you press Ctrl-C"),
  },
  positional: manyArguments("path", "Skill file, skill folder or folder of skills"),
  from: () => import("../actions/validate.ts"),
  action: "validateAction",
});
export type ValidateFlags = FlagsOf<typeof validate>;

const test = defineCommand({
  name: "test",
  brief: "Run the tests that ship with skills, without a model",
  description:
    "Runs the cases in `tests/*.test.yaml` next to each skill. A case gives a request (`arguments`, `input`, …) and what to `expect`: the text, a refusal or, with a `script` that stands in for the model, the tool calls and how the run ends. Tests use no model and no network, and can't see your config, your values or other skills. A test may only do what its skill is trusted to do. Without a skill, tests every skill below the working directory.\n\nExits 1 when a case fails or no case was found.",
  examples: [
    "metier test my-skill",
    "metier test skills/ --filter arguments",
    "metier test skills/ --format junit > report.xml",
  ],
  flags: {
    filter: textFlag("text", "Run only cases with this text in their name or their skill's name"),
    approve: APPROVE_FLAG,
    format: defaultedFlag(["text", "json", "junit"], "text", "Output format"),
  },
  positional: manyArguments("skill", "Skill name, skill file, skill folder or folder of skills"),
  from: () => import("../actions/test.ts"),
  action: "testAction",
});
export type TestFlags = FlagsOf<typeof test>;

const evaluate = defineCommand({
  name: "eval",
  brief: "Measure what a skill is worth: evals, triggers, routing",
  description:
    "Runs each task in `evals/evals.json` with the skill and without it, each in a separate workspace. Scripts, plain checks or a model grade the results. Writes `<skill>-workspace/iteration-N/` with outputs, timing, grading, `benchmark.json` and `report.html`. Without a skill, runs the evals of every usable skill that has some.\n\n`--record` keeps every model answer, so `--replay` can run again without a model.\n\nExits 1 below `--min-pass-rate` or when evals can't be read, 4 when a limit stopped it, 5 when a run or a grading failed, 6 when there is no model.",
  usage: ["[<skill>...]", "triggers <skill>", "routing"],
  actions: {
    "<skill>...": "Run the evals of these skills: names, paths or folders of skills",
    "triggers <skill>": "Measure how often a model uses the skill for `evals/eval_queries.json`",
    routing:
      "Find skills that get mistaken for each other by their descriptions; uses a model only with `--model`, `--record` or `--replay`",
  },
  examples: [
    "metier eval my-skill --dry-run",
    "metier eval my-skill --runs 3 --approve",
    "metier eval skills/ --out results",
    "metier eval my-skill --baseline ../old/my-skill --min-pass-rate 0.8",
    "metier eval my-skill --record recordings/evals",
    "metier eval my-skill --replay recordings/evals --json",
    "metier eval triggers my-skill --runs 3 --model fast",
    "metier eval routing --path skills/",
    "metier eval routing --model fast --queries routing.json",
  ],
  flags: {
    runs: textFlag("count", "Run each eval or query this often (default: 1; triggers: 3)"),
    dryRun: switchFlag("Read the evals and show what would run, without a model"),
    only: listFlag("id", "Run only this eval, by id or name (repeatable)"),
    baseline: textFlag("path", "Compare with this older skill instead of no skill"),
    model: MODEL_FLAG,
    graderModel: textFlag("name", "Model that grades what no script does (default: the same model)"),
    approve: APPROVE_FLAG,
    record: textFlag("dir", "Record model answers in this folder for a replay"),
    replay: textFlag("dir", "Replay recorded answers instead of calling a model"),
    out: textFlag(
      "dir",
      "Folder for `<skill>-workspace` (default: here); without it, routing writes nothing",
    ),
    minPassRate: textFlag("rate", "Exit 1 below this pass rate: 0.8 or 80%"),
    concurrency: textFlag("count", "Runs at the same time (default: 2)"),
    maxIterations: textFlag("count", "Stop a run after this many calls to the model"),
    maxTokens: textFlag("tokens", "Stop when all runs together have used this many tokens"),
    maxCost: textFlag("amount", "Stop when all runs together have cost this much"),
    timeout: textFlag("seconds", "Stop everything after this many seconds"),
    queries: textFlag("file", "Read queries from this file (triggers, routing)"),
    threshold: textFlag("rate", "Share of runs that must trigger (default: 0.5)"),
    seed: textFlag("number", "Seed for splitting queries into training and validation sets (default: 0)"),
  },
  positional: manyArguments("skill", "Names, paths or folders of skills"),
  from: () => import("../actions/eval.ts"),
  action: "evalAction",
});
export type EvalFlags = FlagsOf<typeof evaluate>;

const compat = defineCommand({
  name: "compat",
  brief: "Show how other clients read a skill",
  description:
    "For each known client, shows the fields it uses, the fields it ignores, and what stops it from loading the skill. Each fact names the version or date it was checked. Clients marked `*` count only when you name them with `--client`. `--fix` rewrites spellings, value forms, and `version`, `author`, `tags` and `requires` under `metadata`; Metier reads the same skill afterwards.\n\nExits 1 when the skill breaks in one of the clients.",
  examples: [
    "metier compat my-skill",
    "metier compat my-skill --client codex,claude-code",
    "metier compat --fix my-skill",
    "metier compat --json skills/",
  ],
  flags: {
    client: listFlag("client", "Check only this client: claude-code, codex, … (repeatable)", ","),
    fix: switchFlag("Rewrite the skill file where nothing is lost, and show the diff"),
  },
  positional: manyArguments("skill", "Skill name, skill file, skill folder or folder of skills", 1),
  from: () => import("../actions/publish.ts"),
  action: "compatAction",
});
export type CompatFlags = FlagsOf<typeof compat>;

const scan = defineCommand({
  name: "scan",
  brief: "Scan skills for hidden text, stolen secrets and other dangers",
  description:
    "Reads every file of a skill and applies fixed rules. Runs nothing and sends nothing anywhere. Without a skill, scans every usable skill. A baseline lists findings you have reviewed and accepted, per skill.\n\nExits 1 when it finds something at or above `--fail-on`.",
  examples: [
    "metier scan my-skill",
    "metier scan skills/ --fail-on medium",
    "metier scan skills/ --baseline scan-baseline.json",
    "metier scan --format sarif skills/ > scan.sarif",
    "metier scan --rules",
  ],
  flags: {
    format: defaultedFlag(["text", "json", "sarif"], "text", "Output format"),
    failOn: defaultedFlag([...SCAN_SEVERITIES, "never"], "high", "Exit 1 at or above this severity"),
    baseline: textFlag("file", "Skip findings this file accepts (default: `scan.baseline` in the config)"),
    writeBaseline: textFlag("file", "Accept all findings and write them to this file"),
    rules: switchFlag("List all rules and what they mean"),
  },
  positional: manyArguments("skill", "Skill name, skill file, skill folder or folder of skills"),
  from: () => import("../actions/scan.ts"),
  action: "scanAction",
});
export type ScanFlags = FlagsOf<typeof scan>;

const describe = defineCommand({
  name: "describe",
  brief: "Show which requests a skill's description wins, and which words are missing",
  description:
    "Routes the queries in `evals/eval_queries.json` by words alone, and shows where lost requests go and which words would\nwin them. `--description` tries another text, `--model` asks a model to rewrite it; both show the routing before and\nafter. Writes nothing.",
  examples: [
    "metier describe my-skill",
    'metier describe my-skill --description "Mends kites. Use when a kite is torn."',
    "metier describe my-skill --model fast",
    "metier describe my-skill --model fast --record answer.jsonl",
    "metier describe my-skill --replay answer.jsonl",
  ],
  flags: {
    description: textFlag("text", "Try this description instead"),
    queries: textFlag("file", "Read queries from this file"),
    model: textFlag("name", "Let this model propose a description"),
    record: textFlag("file", "Record the model's answer for a replay"),
    replay: textFlag("file", "Replay a recorded answer instead of calling a model"),
  },
  positional: requiredArgument("skill", "Skill folder, skill file or skill name"),
  from: () => import("../actions/describe.ts"),
  action: "describeAction",
});
export type DescribeFlags = FlagsOf<typeof describe>;

const schema = defineCommand({
  name: "schema",
  brief: "Print the JSON Schema of a file you write",
  description:
    "Without a name, lists the schemas and their files. The package ships the same files in `schemas/`.",
  examples: ["metier schema", "metier schema test-file > test-file.schema.json"],
  positional: optionalArgument("name", "skill, config, test-file, evals, eval-queries, agent or command"),
  from: () => import("../actions/schema.ts"),
  action: "schemaAction",
});
export type SchemaFlags = FlagsOf<typeof schema>;

/** In overview order. */
export const AUTHORING: readonly DeclaredCommand[] = [
  newSkill,
  validate,
  test,
  evaluate,
  describe,
  schema,
  compat,
  scan,
];
