/** `metier eval` as a person or a CI job types it; the recordings are made by `scripts/record-evals.mjs`. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { scanPaths } from "@metier/scan/engine";
import { validatePaths } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { createWorld, skill } from "../support/world.ts";

const RECORDINGS = join(process.cwd(), "packages/metier/recordings/evals");
const BUNDLED = join(process.cwd(), "packages/metier/skills/summarize-text");

describe("the bundled skills, from recordings and without a model", () => {
  test("evals are replayed, and the skill is worth something", async () => {
    const world = createWorld();
    const outcome = await world.cli(
      "eval",
      "summarize-text",
      "--replay",
      RECORDINGS,
      "--json",
      "--min-pass-rate",
      "1",
    );
    expect(outcome.code).toBe(0);
    const { passed, evaluations } = outcome.json;
    expect(passed).toBe(true);
    expect(evaluations[0]).toMatchObject({ skill: "summarize-text", errors: 0, diagnostics: [] });
    expect(evaluations[0].benchmark.run_summary.delta.pass_rate).toBeGreaterThan(0.5);
    const iteration = join(world.project, "summarize-text-workspace", "iteration-1");
    expect(evaluations[0].iteration).toEqual({ path: iteration, number: 1 });
    for (const file of ["benchmark.json", "report.html", "eval-certainty-is-kept/with_skill/grading.json"]) {
      expect(existsSync(join(iteration, file))).toBe(true);
    }
  });

  test("without a name, every skill that has evals is evaluated", async () => {
    const world = createWorld();
    const { code, stdout, stderr } = await world.cli("eval", "--replay", RECORDINGS, "--out", "results");
    expect(code).toBe(0);
    expect(stdout).toMatch(/summarize-text\n {2}with_skill +100 % /);
    expect(stderr).toContain("[4/4]");
    expect(existsSync(join(world.project, "results", "summarize-text-workspace", "iteration-1"))).toBe(true);
  });

  test("of a folder of skills those that have evals are evaluated", async () => {
    const world = createWorld();
    const args = ["eval", dirname(BUNDLED), "--replay", RECORDINGS, "--json"];
    const { code, json } = await world.cli(...args);
    expect(json.evaluations.map(({ skill: name }: { skill: string }) => name)).toEqual(["summarize-text"]);
    expect(code).toBe(0);
    world.write({ "project/plain/a/SKILL.md": skill("a") });
    const none = await world.cli("eval", "plain", "--replay", RECORDINGS);
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringContaining("None of the skills in `plain` has evals."),
    ]);
  });

  test("each skill has a folder of its own, also when two have one name", async () => {
    const world = createWorld();
    const recordings = join(world.root, "recordings");
    for (const name of ["summarize-text", "summarize-text-2"]) {
      cpSync(join(RECORDINGS, "summarize-text"), join(recordings, name), { recursive: true });
    }
    const copy = join(world.project, "copies", "summarize-text");
    cpSync(BUNDLED, copy, { recursive: true });
    const { stdout } = await world.cli("eval", BUNDLED, copy, "--replay", recordings, "--out", "results");
    expect(stdout).toContain(join("results", "summarize-text-2-workspace", "iteration-1"));
    const folders = ["summarize-text-2-workspace", "summarize-text-workspace"];
    expect(readdirSync(join(world.project, "results")).sort()).toEqual(folders);
    for (const folder of folders) {
      expect(readdirSync(join(world.project, "results", folder))).toEqual(["iteration-1"]);
    }
  });

  test("triggers are replayed whatever other skills are there", async () => {
    const world = createWorld();
    world.write({ "home/.metier/skills/other/SKILL.md": skill("other") });
    const { code, json } = await world.cli(
      "eval",
      "triggers",
      "summarize-text",
      "--replay",
      RECORDINGS,
      "--json",
    );
    expect(code).toBe(0);
    expect(json.summary.all).toEqual({ passed: 9, total: 10, pass_rate: 0.9 });
    expect(json.queries.find(({ query }: { query: string }) => query.includes("pdf-tools")).instead).toEqual({
      "review-a-skill": 1,
    });
    expect(existsSync(join(json.folder, "triggers.json"))).toBe(true);
    expect(existsSync(join(json.folder, "report.html"))).toBe(true);
  });

  test("[U6] triggers and routing by a model show tokens and cost", async () => {
    const world = createWorld();
    const script = join(world.root, "script.json");
    const usage = { inputTokens: 500_000, outputTokens: 0 };
    const turns = Array.from({ length: 4 }, () => ({ answer: { text: "None.", usage } }));
    world.write({
      "script.json": JSON.stringify(turns),
      "queries.json": JSON.stringify([{ query: "What is the tide?", should_trigger: false }]),
      "routes.json": JSON.stringify([{ query: "What is the tide?", skill: null }]),
      "home/.metier/skills/other/SKILL.md": skill("other"),
      "home/.metier/config.toml": `[models.default]
provider = "scripted"
model = ${JSON.stringify(script)}
input-price = 2
output-price = 4
`,
    });
    const queries = (name: string) => ["--queries", join(world.root, name)];
    const triggers = await world.cli("eval", "triggers", "other", "--runs", "1", ...queries("queries.json"));
    expect(triggers.stdout).toContain("500000 tokens, $1.00");
    const routing = await world.cli("eval", "routing", "--model", "default", ...queries("routes.json"));
    expect(routing.stdout).toContain("500000 tokens, $1.00");
  });

  test("a pass rate below the wanted one is a no", async () => {
    const args = ["eval", "triggers", "summarize-text", "--replay", RECORDINGS, "--min-pass-rate", "95%"];
    expect((await createWorld().cli(...args)).code).toBe(1);
  });

  test("recordings hold no path of the machine they were made on", () => {
    const files = readdirSync(RECORDINGS, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".jsonl"),
    );
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) {
      const text = readFileSync(join(RECORDINGS, file), "utf8");
      const paths = text.match(/"(?:cwd|workDir|skillDir|location)":"[^"]+"/g) ?? [];
      expect(paths.filter((path) => !/":"\/(?:evals|metier)(?:\/|"$)/.test(path))).toEqual([]);
    }
  });
});

describe("without a model and without recordings", () => {
  test.each([
    [["eval", "summarize-text"]],
    [["eval", "triggers", "summarize-text"]],
    [["eval", "routing", "--model", "default"]],
  ])("%j says what to do, and leaves nothing behind", async (args) => {
    const world = createWorld();
    const { code, stderr } = await world.cli(...args);
    expect(code).toBe(6);
    expect(stderr).toContain("ANTHROPIC_API_KEY");
    expect(stderr).toContain("--replay <folder>");
    expect(readdirSync(world.project)).toEqual([".git"]);
  });

  test("routing needs none: descriptions are compared, and queries searched", async () => {
    const world = createWorld();
    const twin =
      "---\nname: shorten-text\ndescription: Summarize a text, document, thread or log faithfully, in the length and form that was asked for. Use when someone wants a summary, the key points, a TL;DR, minutes or a digest of something longer.\n---\n\nShorten it.\n";
    world.write({ "extra/shorten-text/SKILL.md": twin });
    const { code, json } = await world.cli(
      "eval",
      "routing",
      "--path",
      join(world.root, "extra"),
      "--out",
      "routing",
      "--json",
    );
    expect(code).toBe(0);
    expect(json.descriptions.pairs[0]).toMatchObject({
      skills: ["shorten-text", "summarize-text"],
      verdict: "near-duplicate",
    });
    expect(json.search.total).toBe(10);
    expect(json.model).toBeUndefined();
    expect(readFileSync(join(world.project, "routing", "report.html"), "utf8")).toContain("near-duplicate");
  });
});

describe("what is wrong is said", () => {
  const withEvals = (text: string): ReturnType<typeof createWorld> => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/a/SKILL.md": skill("a"),
      "home/.metier/skills/a/evals/evals.json": text,
    });
    return world;
  };

  test("evals of which none can be used are named with their lines", async () => {
    const { code, stderr } = await withEvals('{"evals": [\n{"id": 1}\n]}').cli(
      "eval",
      "a",
      "--replay",
      RECORDINGS,
    );
    expect(code).toBe(1);
    expect(stderr).toContain("line 2: Eval 1 has no `prompt`");
  });

  test.each([
    [["eval", "b"], 1, "was not found"],
    [["eval", "./nothing"], 2, "There is no skill at"],
    [["eval", "a", "--record", "x", "--replay", "y"], 2, "can't be used together"],
    [["eval", "a", "--replay", "y", "--model", "m"], 2, "no model option can be used with it"],
    [["eval", "a", "--replay", "y"], 2, "No recordings at"],
    [["eval", "a", "--runs", "0"], 2, "`--runs` is `0`"],
    [["eval", "a", "--concurrency", "99"], 2, "the limit is 16 runs"],
    [["eval", "a", "--min-pass-rate", "7"], 2, "from 0 to 1"],
    [["eval", "a", "--only", "9", "--replay", RECORDINGS], 2, "There is no eval `9`"],
    [["eval", "a", "--seed", "1"], 2, "`--seed` has no effect on `metier eval`"],
    [["eval", "triggers"], 2, "takes one skill"],
    [["eval", "triggers", "a"], 2, "has no queries"],
    [["eval", "routing", "a"], 2, "the whole catalog"],
    [["eval", "routing", "--runs", "2"], 2, "`--runs` has no effect on `metier eval routing`"],
  ])("%j", async (args, exit, reason) => {
    const world = withEvals('{"evals": [{"id": 1, "prompt": "p", "assertions": ["a"]}]}');
    const { code, stderr } = await world.cli(...args);
    expect([code, stderr]).toEqual([exit, expect.stringContaining(reason)]);
  });

  test("a run that was not recorded is missed before anything is replayed", async () => {
    const world = createWorld();
    const args = ["eval", "summarize-text", "--replay", RECORDINGS, "--runs", "2"];
    const { code, stderr } = await world.cli(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining("was not recorded")]);
    expect(readdirSync(world.project)).toEqual([".git"]);
  });
});

describe("evals beside a skill disturb nothing else", () => {
  test("validation, scan and listing see a skill as before", async () => {
    const report = await validatePaths([BUNDLED], "strict");
    expect(report).toMatchObject({
      valid: true,
      results: [{ name: "summarize-text", diagnostics: [] }],
      diagnostics: [],
    });
    const scanned = await scanPaths([BUNDLED], {});
    expect(scanned.skills.flatMap(({ findings }) => findings)).toEqual([]);
    const { json } = await createWorld().cli("list", "--json");
    expect(json.skills.filter(({ name }: { name: string }) => name === "summarize-text")).toHaveLength(1);
  });

  test("a folder whose name has a space, reached by a link, is evaluated too", async () => {
    const world = createWorld();
    mkdirSync(join(world.root, "my skills"));
    symlinkSync(BUNDLED, join(world.root, "my skills", "summarize-text"));
    const path = join(world.root, "my skills", "summarize-text");
    const { code } = await world.cli("eval", path, "--replay", RECORDINGS);
    expect(code).toBe(0);
  });
});

describe("[U7] what people are told", () => {
  test("replayed times are marked, in the terminal and in every file", async () => {
    const world = createWorld();
    const { stdout, stderr } = await world.cli("eval", "summarize-text", "--replay", RECORDINGS);
    expect(stdout).toContain("Times are those of the recording.");
    expect(stderr).toMatch(/\d\.\d s when recorded/);
    const iteration = join(world.project, "summarize-text-workspace", "iteration-1");
    const timing = readFileSync(join(iteration, "eval-certainty-is-kept/with_skill/timing.json"), "utf8");
    expect(JSON.parse(timing)).toMatchObject({ replayed: true });
    const page = readFileSync(join(iteration, "report.html"), "utf8");
    expect(page).toContain('"replayed":true');
    expect(page).toContain("Evaluation of summarize-text");
    expect(stdout).not.toMatch(/-0(?:\.0)? /);
  });

  test("a second iteration says what changed", async () => {
    const world = createWorld();
    const replay = () => world.cli("eval", "summarize-text", "--replay", RECORDINGS);
    expect((await replay()).stdout).not.toContain("since iteration");
    expect((await replay()).stdout).toContain(
      "since iteration 1: 100 % → 100 % (0 points); same skill, so differences are chance",
    );
  });
});
