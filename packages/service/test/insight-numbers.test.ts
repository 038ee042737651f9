/** Numbers for people who look: runs by day and skill, evaluations over time, and which descriptions are confused. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { DurableRun } from "@metier/durable";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import type {
  ApiEvalSummary,
  ApiIteration,
  ApiList,
  ApiRouting,
  ApiRoutingWhy,
  ApiStatistics,
} from "../src/api.ts";
import { sumRuns } from "../src/insight/sum-runs.ts";
import { openService, type TestService } from "./support/open-service.ts";

const skill = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\nDo.\n`;

async function openOver(files: Readonly<Record<string, string>>): Promise<TestService> {
  const folder = temporaryFolder();
  writeTree(join(folder, "home"), files);
  return openService({ folder });
}

async function read<Answer>(service: TestService, path: string): Promise<Answer> {
  const reply = await service.call("GET", path);
  expect([path, reply.status, reply.body.error]).toEqual([path, 200, undefined]);
  expect(reply.text).not.toContain(service.folder);
  return reply.body as unknown as Answer;
}

function run(more: Partial<DurableRun>): DurableRun {
  const at = Date.parse("2026-11-16T10:00:00Z");
  const base = { id: "a", tenant: "default", rootId: "a", order: {}, lastEvent: 1, isCancelled: false };
  return { ...base, status: "completed", createdAt: at, updatedAt: at, activeMs: 100, ...more };
}

test("days without runs are there, times are medians and 95th percentiles, and failures are counted", () => {
  const sums = sumRuns();
  const times = [100, 200, 300, 400, 5_000];
  for (const activeMs of times)
    sums.add(run({ skill: "deploy", activeMs, result: { usage: { totalTokens: 10 }, cost: 0.5 } }));
  sums.add(run({ skill: "deploy", status: "failed", activeMs: 50 }));
  sums.add(run({ skill: "notes", status: "running", activeMs: 9 }));
  sums.add(run({ skill: "helper", parentId: "a" }));
  const told = sums.finish(Date.parse("2026-11-15"), Date.parse("2026-11-18"), [
    "deploy",
    "helper",
    "unused",
  ]);
  expect(told.days.map(({ day, runs }) => [day, runs])).toEqual([
    ["2026-11-15", 0],
    ["2026-11-16", 7],
    ["2026-11-17", 0],
  ]);
  expect(told.skills).toEqual([
    { skill: "deploy", runs: 6, failed: 1, tokens: 50, cost: 2.5, medianMs: 200, p95Ms: 5_000 },
    { skill: "notes", runs: 1, failed: 0, tokens: 0, cost: 0, medianMs: 0, p95Ms: 0 },
  ]);
  expect(told.neverUsed).toEqual(["unused"]);
});

test("statistics are over the tenant's runs of a bounded time, and name skills that nobody used", async () => {
  const service = await openOver({
    ".metier/skills/greet/SKILL.md": skill("greet", "Says hello."),
    ".metier/skills/idle/SKILL.md": skill("idle", "Is never used."),
  });
  await service.settle(await service.start("say 1"), "completed");
  const told = await read<ApiStatistics>(service, "/v1/statistics");
  expect(told.skills).toMatchObject([{ skill: "greet", runs: 1, tokens: 15, cost: 0.25 }]);
  expect(told.neverUsed).toEqual(["idle"]);
  expect(told.days.at(-1)).toMatchObject({ runs: 1 });
  for (const query of ["from=2020-01-01", "from=2026-01-02&to=2026-01-01", "from=0001-01-01&to=0001-02-01"]) {
    expect((await service.call("GET", `/v1/statistics?${query}`)).status).toBe(422);
  }
});

const benchmark = (passRate: number, more: object = {}) =>
  JSON.stringify({
    metadata: {
      skill_name: "deploy",
      skill_path: "/srv/skills/deploy",
      skill_digest: "sha256:00",
      executor_model: "a-model",
      timestamp: "2026-11-01T10:00:00Z",
    },
    runs: [{ eval_id: 1, result: { cost: 0.5 }, outputs: ["first/with_skill/outputs/answer.md"] }],
    run_summary: {
      with_skill: { pass_rate: { mean: passRate, stddev: 0.1 }, ungraded: 1 },
      without_skill: { pass_rate: { mean: 0.2, stddev: 0 } },
    },
    ...more,
  });

test("evaluations are found beside skills and in the working directory, with what their runs left", async () => {
  const service = await openOver({
    ".metier/skills/deploy/SKILL.md": skill("deploy", "Deploys."),
    ".metier/skills/deploy-workspace/iteration-1/benchmark.json": benchmark(0.5),
    ".metier/skills/deploy-workspace/iteration-2/benchmark.json": benchmark(0.9),
    ".metier/skills/deploy-workspace/iteration-2/first/with_skill/outputs/answer.md": "It is done.\n",
    ".metier/skills/deploy-workspace/iteration-2/first/eval_metadata.json": JSON.stringify({
      eval_id: 1,
      eval_name: "first",
      prompt: "Deploy it.",
    }),
    ".metier/skills/deploy-workspace/iteration-3/benchmark.json": "{",
    ".metier/skills/deploy-workspace/iteration-5/triggers.json": '{"model":"a-model","queries":[]}',
    "elsewhere/notes-workspace/iteration-1/benchmark.json": benchmark(1, { runs: "none", run_summary: 7 }),
  });
  const workspace = join(service.folder, "home", ".metier", "skills", "deploy-workspace");
  symlinkSync("/etc", join(workspace, "iteration-4"));
  const { data } = await read<ApiList<ApiEvalSummary>>(service, "/v1/evals");
  expect(data.map(({ skill: name }) => name)).toEqual(["deploy", "notes"]);
  expect(data[0]?.iterations).toEqual([
    expect.objectContaining({ number: 1, passRate: { mean: 0.5, stddev: 0.1 } }),
    {
      number: 2,
      at: "2026-11-01T10:00:00Z",
      model: "a-model",
      digest: "sha256:00",
      runs: 1,
      passRate: { mean: 0.9, stddev: 0.1 },
      baseline: { mean: 0.2, stddev: 0 },
      cost: 0.5,
      ungraded: 1,
    },
  ]);
  const shown = await read<ApiIteration>(service, "/v1/evals/deploy/2");
  expect(shown.evals).toEqual([{ id: "1", name: "first", prompt: "Deploy it." }]);
  const asked = await read<ApiIteration>(service, "/v1/evals/deploy/5");
  expect(asked).toEqual({ skill: "deploy", number: 5, triggers: { model: "a-model", queries: [] } });
  expect(shown.benchmark?.metadata).not.toHaveProperty("skill_path");
  const output = "/v1/evals/deploy/2/outputs";
  expect(await read(service, `${output}/first/with_skill/outputs/answer.md`)).toMatchObject({
    text: "It is done.\n",
  });
  for (const path of [
    "/v1/evals/deploy/3",
    "/v1/evals/deploy/9",
    "/v1/evals/other/1",
    `${output}/..%2f..%2f..%2fSKILL.md`,
    "/v1/evals/deploy/4/outputs/hostname",
  ]) {
    expect([path, (await service.call("GET", path)).status]).toEqual([path, 404]);
  }
});

test("confused descriptions are told as pairs, and a skill hears which words it lacks", async () => {
  const service = await openOver({
    ".metier/skills/deploy/SKILL.md": skill("deploy", "Deploys a static site to a bucket. Use for sites."),
    ".metier/skills/publish/SKILL.md": skill(
      "publish",
      "Publishes a static site to a bucket. Use for pages.",
    ),
    ".metier/skills/notes/SKILL.md": skill("notes", "Writes release notes."),
  });
  const routing = await read<ApiRouting>(service, "/v1/routing");
  expect(routing.names).toEqual(["deploy", "notes", "publish"]);
  expect(routing.matrix).toHaveLength(3);
  expect(routing.pairs[0]).toMatchObject({ skills: ["deploy", "publish"], suggestion: expect.any(String) });
  const ask = (query: string, name: string) =>
    read<ApiRoutingWhy>(service, `/v1/routing/why?${new URLSearchParams({ q: query, skill: name })}`);
  const lost = await ask("deploy the notes to a static bucket", "notes");
  expect(lost).toMatchObject({ rank: 2, winner: { name: "deploy" }, hit: { name: "notes" } });
  expect(lost.lacks.map(({ word }) => word)).toEqual(["deploy", "static", "bucket"]);
  expect(lost.winner?.words[0]).toMatchObject({ word: "deploy", fields: ["name", "description"] });
  expect(lost.winner?.description).toContain("Deploys");
  expect(await ask("write notes", "notes")).toMatchObject({ rank: 1, lacks: [] });
  expect(await ask("paint a house", "notes")).toEqual({ skill: "notes", lacks: [] });
  expect((await service.call("GET", "/v1/routing/why?q=x&skill=none")).status).toBe(404);
});
