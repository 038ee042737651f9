/** What `validate` says to authors about the files around a skill's text. */
import { createMetier } from "metier";
import { expect, test } from "vitest";
import { createWorld, skill } from "../support/world.ts";

interface Found {
  readonly code: string;
  readonly severity: string;
  readonly path: string;
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

async function validate(
  world: ReturnType<typeof createWorld>,
  ...words: readonly string[]
): Promise<{ readonly code: number; readonly found: readonly Found[] }> {
  const { code, json } = await world.cli("validate", ...words, "--json");
  return {
    code,
    found: json.results.flatMap((result: { diagnostics: readonly Found[] }) => result.diagnostics),
  };
}

test("[U9] names that lead nowhere are warnings with their line and the nearest file", async () => {
  const world = createWorld();
  world.write({
    "project/a/SKILL.md": skill(
      "a",
      "",
      "Read `references/guid.md`.\n\nRun `scripts/gone.py`.\n\nSee `references/guide.md`.",
    ),
    "project/a/references/guide.md": "x",
  });
  const { code, found } = await validate(world, "a");
  expect(code).toBe(0);
  expect(found).toMatchObject([
    { code: "reference.missing", severity: "warning", hint: "Did you mean `references/guide.md`?" },
    { code: "script.missing", severity: "warning", message: expect.stringContaining("`scripts/gone.py`") },
  ]);
  expect((found[1]?.line ?? 0) - (found[0]?.line ?? 0)).toBe(2);
});

test("[U9] evals, queries and test files are checked by those who read them", async () => {
  const world = createWorld();
  world.write({
    "project/a/SKILL.md": skill("a"),
    "project/a/evals/evals.json": JSON.stringify(
      {
        evals: [
          { id: 1, prompt: "Do it", files: ["evals/files/gone.csv"], assertions: ["script: gone.mjs"] },
          { id: 2 },
        ],
      },
      undefined,
      1,
    ),
    "project/a/evals/eval_queries.json": '[{"query": "x"}]',
    "project/a/tests/a.test.yaml": "- name: one\n  expct: {}\n",
  });
  const { code, found } = await validate(world, "a");
  expect(code).toBe(0);
  expect(found.map((one) => `${one.severity} ${one.code}`).sort()).toEqual([
    "warning eval.invalid",
    "warning eval.invalid",
    "warning eval.missing-file",
    "warning eval.missing-file",
    "warning test-file.invalid",
  ]);
  const missing = found.filter((one) => one.code === "eval.missing-file");
  expect(missing.map(({ message, line }) => [line, /`([^`]+)`/.exec(message)?.[1]])).toEqual([
    [7, "evals/files/gone.csv"],
    [10, "gone.mjs"],
  ]);
  expect(found.find((one) => one.code === "test-file.invalid")).toMatchObject({ line: expect.any(Number) });
  expect((await validate(world, "a", "--strict")).code).toBe(1);
});

test("[U9] sound files beside a skill are not mentioned", async () => {
  const world = createWorld();
  world.write({
    "project/a/SKILL.md": skill("a"),
    "project/a/evals/evals.json": '{"evals": [{"id": 1, "prompt": "Do it", "assertions": ["It is done"]}]}',
    "project/a/tests/a.test.yaml": "- name: one\n  expect: { refused: false }\n",
  });
  expect(await validate(world, "a", "--strict")).toEqual({ code: 0, found: [] });
});

test("[U9] a body that floods a context is measured in tokens", async () => {
  const world = createWorld();
  world.write({
    "project/long/SKILL.md": skill("long", "", "word ".repeat(6000)),
    "project/flood/SKILL.md": skill("flood", "", "word ".repeat(30_000)),
    "project/short/SKILL.md": skill("short", "", "word ".repeat(3000)),
  });
  const { found } = await validate(world, ".");
  expect(found.map((one) => one.code)).toEqual(["body.floods-context", "body.too-long"]);
  expect(found[0]?.message).toMatch(/The body has 30,\d{3} tokens/);
  expect(found[1]?.message).toMatch(/The body has 6,\d{3} tokens; keep it below 5,000\./);
});

test("[U9] the library checks evals and test files as the command does", async () => {
  const world = createWorld();
  world.write({
    "project/a/SKILL.md": skill("a"),
    "project/a/evals/evals.json": JSON.stringify({
      skill_name: "a",
      evals: [{ id: 1, prompt: "Go.", files: ["evals/files/gone.txt"] }],
    }),
    "project/a/evals/eval_queries.json": JSON.stringify([{ query: "" }]),
    "project/a/tests/a.test.yaml": "cases: 1\n",
  });
  const { code, json } = await world.cli("validate", "a", "--json");
  const metier = await createMetier({ home: world.home, cwd: world.project });
  const report = await metier.validate("a");
  expect(code).toBe(0); // They are warnings.
  expect(JSON.parse(JSON.stringify(report))).toEqual(json);
  const paths = report.results.flatMap(({ diagnostics }) => diagnostics.map(({ path }) => path));
  for (const file of ["evals.json", "eval_queries.json", "a.test.yaml"]) {
    expect(paths).toContainEqual(expect.stringContaining(file));
  }
});
