/**
 * `node scripts/record-evals.mjs`: makes the recordings that replay the evals of the bundled skills, from scripted
 * model answers. Run it when the prompt of a run, a chat or the grader changes, or a bundled skill that takes part.
 * The recordings contain no paths of this machine.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { evaluateSkill, evaluateTriggers } from "@metier/evals";
import { createScriptModel } from "@metier/run/model";
import { readQueries } from "@metier/skills/formats";
import { createMetier } from "metier";
import { ROOT } from "./setup/repository.mjs";

const SKILL = "summarize-text";
/** The skills a model chooses from; skills that need a program aren't on every machine. */
const ROUTED = [SKILL, "review-a-skill", "write-a-skill"];

/** @param {string} text */
const says = (text) => ({ answer: { text } });
/** @param {string} path */
const reads = (path) => ({ answer: { toolCalls: [{ tool: "read_file", input: { path } }] } });
/** @param {string} skill */
const uses = (skill) => ({ answer: { toolCalls: [{ tool: "use_skill", input: { skill } }] } });
/** @param {boolean} passed @param {string} evidence */
const grades = (passed, evidence) => says(JSON.stringify({ results: [{ index: 1, passed, evidence }] }));

/** In the order of the requests: eval by eval. */
const ANSWERS = {
  [SKILL]: [
    reads("meeting.md"),
    says(
      [
        "- Decided: the new sign-in screen ships on 14 March, behind a flag that Tom adds this week.",
        "- Open: whether the app works offline. Lena asks support by Friday how many customers want it; Priya decides then.",
        "- The crash on old phones (an image cache that is never emptied) has a fix by Lena, which is in review.",
      ].join("\n"),
    ),
    reads("study.txt"),
    says(
      "In a pilot with 212 office workers, afternoons after a ten-minute walk had slightly fewer proof-reading mistakes (4 %). A walk may help attention, but the workers chose their own days, so a trial with drawn days has to show it.",
    ),
  ],
  task: [
    reads("meeting.md"),
    says(
      "The mobile team met and talked about the new office, the sign-in screen, which everybody liked and which ships on 14 March, a crash on old phones and working offline.",
    ),
    reads("study.txt"),
    says(
      "The study proves that short walks after lunch improve attention. 212 office workers took part. They made 4 % fewer mistakes. Everyone should walk after lunch.",
    ),
  ],
  "metier-grader": [
    grades(
      true,
      "First line: “Decided: … a flag that Tom adds this week”; second: “Open: … Lena asks support by Friday”.",
    ),
    grades(
      false,
      "It begins with “The mobile team met and talked about the new office”; no person is named.",
    ),
    grades(true, "Two sentences: “In a pilot …” and “A walk may help attention …”."),
    grades(false, "Four sentences, the last is “Everyone should walk after lunch.”"),
  ],
};

/** One for each query in the file, each asked once. */
const CHOICES = [
  uses(SKILL),
  uses(SKILL),
  uses(SKILL),
  uses(SKILL),
  says("Paste the log, or tell me where it is, and I look for the first failure."),
  says("Please paste the summary; then I translate it."),
  says("The lighthouse had been dark for a year when the letters began to come."),
  says("I need the file to count its words: where is chapter two?"),
  uses("review-a-skill"),
  says("There is no README.md in this folder; where is it?"),
];

const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-record-")));
try {
  const record = join(folder, "recordings");
  const home = join(folder, "home");
  mkdirSync(home);
  const catalog = await createMetier({ home, cwd: folder, bundled: true, trust: "grants" });
  const skill = catalog.require(SKILL);
  const models = new Map(
    Object.entries(ANSWERS).map(([name, script]) => [name, createScriptModel(script, name)]),
  );
  const evaluation = await evaluateSkill(
    openWith((asked) => models.get(asked)),
    { skill, record, workspace: join(folder, "workspace"), concurrency: 1, runs: 1 },
  );
  for (const model of models.values()) model.assertDone();
  if (evaluation.errors > 0) throw new Error(JSON.stringify(evaluation.benchmark.runs, undefined, 2));

  const { queries } = readQueries(join(skill.directory, "evals", "eval_queries.json"));
  const router = createScriptModel(CHOICES, "router");
  const triggers = await evaluateTriggers(
    openWith(() => router),
    {
      skill: SKILL,
      skills: ROUTED.map((name) => catalog.require(name)),
      queries,
      record,
      concurrency: 1,
      runs: 1,
    },
  );
  router.assertDone();
  if (triggers.errors > 0) throw new Error(JSON.stringify(triggers.queries, undefined, 2));

  const target = join(ROOT, "packages/metier/recordings/evals", SKILL);
  rmSync(target, { recursive: true, force: true });
  for (const name of readdirSync(record, { recursive: true, encoding: "utf8" })) {
    if (!/\.jsonl?$/.test(name)) continue;
    const file = join(target, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, withoutPaths(readFileSync(join(record, name), "utf8")));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Opens a `Metier` with the model for the first of its skills.
 *
 * @param {(skill: string) => ReturnType<typeof createScriptModel> | undefined} choose
 */
function openWith(choose) {
  /** @param {import("../packages/metier/src/index.ts").MetierOptions} options */
  return (options) => {
    const [first = ""] = /** @type {{ allow: string[] }} */ (options.config?.skills ?? { allow: [] }).allow;
    const model = choose(first);
    if (!model) throw new Error(`No script for ${first}.`);
    return createMetier({
      home: join(folder, "home"),
      trust: "grants",
      ...options,
      models: { default: model },
    });
  };
}

/** @param {string} text */
function withoutPaths(text) {
  const temporary = new RegExp(`${realpathSync(tmpdir())}/metier-(?:eval|triggers)-\\w+`, "g");
  return text.replace(temporary, "/evals").replaceAll(folder, "/evals").replaceAll(ROOT, "/metier");
}
