import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { createRunId, openRunLog, type RunEventBody, readRecording, runFolder } from "@metier/run/events";
import { describe, expect, test } from "vitest";
import { FINISHED, SAMPLE_RUN, STARTED, stamped } from "../../../test/support/sample-run.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createWorld, skill, type World } from "../../../test/support/world.ts";

function keepRun(
  world: World,
  bodies: readonly RunEventBody[],
  at = Date.now(),
  runId = createRunId(at),
): string {
  const log = openRunLog(metierPlaces(world.home), runId);
  for (const event of stamped(bodies, runId)) log.write(event);
  log.close?.();
  return runId;
}

function finished(more: Partial<typeof FINISHED>): readonly RunEventBody[] {
  return [STARTED, { ...FINISHED, ...more }];
}

describe("runs list", () => {
  test("shows a line for each run, newest first, in columns", async () => {
    const world = createWorld();
    const first = keepRun(world, SAMPLE_RUN, 1_000_000_000_000);
    const second = keepRun(
      world,
      [
        { ...STARTED, skill: "a" },
        { ...FINISHED, status: "failed", iterations: 12, durationMs: 125_000 },
      ],
      1_500_000_000_000,
    );
    const { code, stdout } = await world.cli("runs");
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        `${second}  2026-01-01 00:00:00Z  failed     a         12 steps  30 tokens  2 min 5 s\n`,
        `${first}  2026-01-01 00:00:00Z  completed  research   2 steps  30 tokens      1.5 s\n`,
      ].join(""),
    );
    expect((await world.cli("runs", "list", "--skill", "a", "--json")).json).toMatchObject({
      runs: [{ runId: second, skill: "a", state: "failed", durationMs: 125_000 }],
    });
  });

  test("says when there is none, and how many more there are", async () => {
    const world = createWorld();
    expect((await world.cli("runs")).stdout).toContain("No runs yet");
    expect((await world.cli("runs", "--json")).json).toEqual({ runs: [] });
    for (const at of [1000, 2000, 3000]) keepRun(world, SAMPLE_RUN, at);
    const { stdout, stderr } = await world.cli("runs", "list", "-n", "2");
    expect(stdout.trim().split("\n")).toHaveLength(2);
    expect(stderr).toContain("1 older run not shown");
  });
});

describe("runs show", () => {
  test("tells what happened, step by step, by a unique beginning of the id", async () => {
    const world = createWorld();
    const runId = keepRun(world, SAMPLE_RUN);
    const { code, stdout } = await world.cli("runs", "show", runId.slice(0, 6));
    expect(code).toBe(0);
    expect(stdout).toContain(`research  ${runId}\n`);
    expect(stdout).toContain("  state        completed\n");
    expect(stdout).toContain("Step 1  15 tokens, 400 ms\n  Let me look.\n");
    expect(stdout).toContain('  ✓ bash {"command":"ls"}  20 ms\n      a\n      b\n');
    expect(stdout).toContain("Answer\n  All done.\n");
  });

  test("has the whole view as JSON, and what the log could not tell", async () => {
    const world = createWorld();
    const runId = keepRun(world, SAMPLE_RUN);
    appendFileSync(runFolder(metierPlaces(world.home), runId).log, '{"v":9,"type":"x"}\n{"v":1');
    const { json } = await world.cli("runs", "show", runId, "--json");
    expect(json).toMatchObject({
      runId,
      skill: "research",
      steps: [{ calls: [{ tool: "bash" }] }, { text: "All done." }],
      log: { events: 8, unknown: 1, broken: 0, torn: true },
    });
    const { stderr } = await world.cli("runs", "show", runId);
    expect(stderr).toContain("1 event from a newer version");
    expect(stderr).toContain("cut off");
  });

  test("shows denied calls, limits and faults", async () => {
    const world = createWorld();
    const denied: RunEventBody = {
      type: "tool-called",
      step: 1,
      callId: "c",
      tool: "web_fetch",
      input: {},
      decision: "deny",
      rule: "`tools.web_fetch` is `deny`",
    };
    const limit = { type: "limit-reached", limit: "tokens", message: "all used" } as const;
    const limited = keepRun(world, [
      STARTED,
      denied,
      limit,
      { ...FINISHED, status: "limited", limit: "tokens" },
    ]);
    const { stdout } = await world.cli("runs", "show", limited);
    expect(stdout).toContain("○ web_fetch {}\n      denied: `tools.web_fetch` is `deny`\n");
    expect(stdout).toContain("limited by tokens: all used\n");
    const failed = keepRun(
      world,
      finished({ status: "failed", error: { code: "model.cut", message: "It ended." } }),
    );
    expect((await world.cli("runs", "show", failed)).stdout).toContain("failed: It ended. (model.cut)\n");
    const cut = keepRun(world, [STARTED]);
    expect((await world.cli("runs", "show", cut)).stdout).toContain("unfinished: still running");
  });

  test("lets nothing of a run write to the terminal", async () => {
    const world = createWorld();
    const evil = "\u001b]0;owned\u0007\u202e";
    const bodies = SAMPLE_RUN.map((body) =>
      JSON.parse(JSON.stringify(body).replaceAll("look", JSON.stringify(evil).slice(1, -1))),
    );
    const runId = keepRun(world, [
      { ...STARTED, skill: evil, model: evil, tools: [evil] },
      ...bodies.slice(1, -1),
      { type: "diagnostic", code: "x", message: evil },
      { ...FINISHED, status: "failed", text: evil, error: { code: "x", message: evil } },
    ]);
    const outputs = [
      await world.cli("runs"),
      await world.cli("runs", "show", runId),
      await world.cli("runs", "stats"),
    ];
    for (const { stdout } of outputs) {
      expect(stdout).toContain("owned");
      expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
    }
  });
});

describe("runs stats", () => {
  verifies(204, "counts how skills are used", async () => {
    const world = createWorld();
    keepRun(world, finished({ durationMs: 100 }));
    keepRun(world, finished({ durationMs: 300, status: "limited" }));
    keepRun(world, [{ ...STARTED, skill: "other" }]);
    const { json } = await world.cli("runs", "stats", "--json");
    expect(json.skills).toMatchObject([
      {
        ...{ skill: "research", runs: 2, completed: 1, limited: 1, iterations: 4 },
        usage: { totalTokens: 60 },
        durationMs: { median: 100, p95: 300 },
      },
      { skill: "other", runs: 1, unfinished: 1 },
    ]);
    const { stdout } = await world.cli("runs", "stats");
    expect(stdout).toContain(
      "research  2 runs  1 completed, 1 limited  4 steps  60 tokens  median 100 ms, 95 % within 300 ms",
    );
    expect((await world.cli("runs", "stats", "--skill", "none")).stdout).toContain("nothing to count");
  });
});

describe("runs delete", () => {
  test("removes runs by id, with their work folder", async () => {
    const world = createWorld();
    const [kept, gone] = [keepRun(world, SAMPLE_RUN, 1000), keepRun(world, SAMPLE_RUN, 2_000_000_000_000)];
    const { folder, work } = runFolder(metierPlaces(world.home), gone);
    mkdirSync(work);
    const { code, json } = await world.cli("runs", "delete", gone, "--json");
    expect([code, json]).toEqual([0, { removed: [gone], diagnostics: [] }]);
    expect(existsSync(folder)).toBe(false);
    expect((await world.cli("runs", "--json")).json.runs).toMatchObject([{ runId: kept }]);
  });

  test("removes what is older than an age", async () => {
    const world = createWorld();
    const now = Date.now();
    const old = keepRun(world, SAMPLE_RUN, now - 3 * 86_400_000);
    keepRun(world, SAMPLE_RUN, now - 60_000);
    const { stdout } = await world.cli("runs", "delete", "--older-than", "2d");
    expect(stdout).toBe(`Removed 1 run: ${old}\n`);
    expect((await world.cli("runs", "delete", "--older-than", "2d")).stdout).toBe("No runs removed.\n");
  });

  test.skipIf(process.getuid?.() === 0)("says what it could not remove, and fails", async () => {
    const world = createWorld();
    const runId = keepRun(world, SAMPLE_RUN);
    const { runs } = metierPlaces(world.home);
    chmodSync(runs, 0o500); // Nothing can be taken out of it.
    const { code, stderr } = await world.cli("runs", "delete", runId);
    chmodSync(runs, 0o700);
    expect(code).toBe(5);
    expect(stderr).toContain("could not be removed");
  });
});

describe("wrong use of runs", () => {
  test.each([
    [["nothing"], 2, "not an action"],
    [["list", "x"], 2, "Usage"],
    [["list", "--number", "0"], 2, "number of runs"],
    [["show"], 2, "Usage"],
    [["show", "zz"], 1, "No run has the id `zz`"],
    [["show", "../../etc"], 1, "No run has the id"],
    [["delete"], 2, "Usage"],
    [["delete", "zz"], 1, "No run has the id `zz`"],
    [["delete", "zz", "--older-than", "1d"], 2, "Usage"],
    [["delete", "--older-than", "soon"], 2, "not an age"],
  ])("%j is answered with what is right", async (args, exit, words) => {
    const { code, stderr } = await createWorld().cli("runs", ...args);
    expect([code, stderr]).toEqual([exit, expect.stringContaining(words)]);
  });

  test("an id that is not unique is answered with those that begin so", async () => {
    const world = createWorld();
    const ids = [keepRun(world, SAMPLE_RUN, 1000), keepRun(world, SAMPLE_RUN, 1001)];
    const { code, stderr } = await world.cli("runs", "show", "0000");
    expect(code).toBe(2);
    for (const id of ids) expect(stderr).toContain(id);
  });
});

describe("[U14] runs are narrowed and exported", () => {
  const DAY = 86_400_000;

  function worldWithRuns(): { readonly world: World; readonly ids: readonly string[] } {
    const world = createWorld();
    const at = (ms: number, body: RunEventBody, end: RunEventBody): string => {
      const runId = createRunId(ms);
      const log = openRunLog(metierPlaces(world.home), runId);
      const when = new Date(ms).toISOString();
      for (const event of stamped([body, end], runId)) log.write({ ...event, at: when });
      log.close?.();
      return runId;
    };
    const now = Date.now();
    return {
      world,
      ids: [
        at(now - 60_000, { ...STARTED, skill: "a" }, FINISHED),
        at(now - 2 * DAY, { ...STARTED, skill: "a" }, { ...FINISHED, status: "failed" }),
        at(now - 9 * DAY, { ...STARTED, skill: "b" }, { ...FINISHED, status: "limited" }),
        at(now - 20 * DAY, { ...STARTED, skill: "b" }, { ...FINISHED, status: "cancelled" }),
      ],
    };
  }

  test("by age, date, skill and outcome, and stats count the same", async () => {
    const { world, ids } = worldWithRuns();
    const listed = async (...flags: readonly string[]): Promise<readonly number[]> =>
      (await world.cli("runs", "list", ...flags, "--json")).json.runs.map(({ runId }: { runId: string }) =>
        ids.indexOf(runId),
      );
    expect(await listed("--since", "1h")).toEqual([0]);
    expect(await listed("--since", "3d")).toEqual([0, 1]);
    const day = new Date(Date.now() - 10 * DAY).toISOString().slice(0, 10);
    expect(await listed("--since", day)).toEqual([0, 1, 2]);
    expect(await listed("--since", `${day}T00:00:00Z`)).toEqual([0, 1, 2]);
    expect(await listed("--failed")).toEqual([1, 2]);
    expect(await listed("--failed", "--skill", "b")).toEqual([2]);
    expect((await world.cli("runs", "--failed", "--since", "1h")).stdout).toContain("No run matches");
    const { json } = await world.cli("runs", "stats", "--since", "3d", "--json");
    expect(json.skills).toMatchObject([{ skill: "a", runs: 2 }]);
  });

  test.each(["yesterday", "-3d", "2026-13-01", "2026-02-30", "12"])(
    "`--since %s` is refused with what is allowed",
    async (since) => {
      const { code, stderr } = await createWorld().cli("runs", `--since=${since}`);
      expect(code).toBe(2);
      expect(stderr).toContain("2026-03-01");
    },
  );

  test("an exported run is replayed by `run --replay`, without its model", async () => {
    const world = createWorld();
    const script = join(world.root, "script.json");
    const look = { toolCalls: [{ tool: "list_files", input: {} }] };
    world.write({
      "script.json": JSON.stringify([{ answer: look }, { answer: { text: "One file." } }]),
      "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(script)}\n`,
      "home/.metier/skills/reader/SKILL.md": skill("reader"),
    });
    const file = join(world.root, "run.jsonl"); // Where the run does not see it.
    const first = await world.cli("run", "reader", "Look.", "--json");
    expect([first.code, first.json.text]).toEqual([0, "One file."]);
    expect((await world.cli("runs", "export", first.json.runId, "-o", file)).code).toBe(0);
    world.write({ "script.json": "[]" });
    const again = await world.cli("run", "reader", "Look.", "--replay", file, "--json");
    expect([again.code, again.json.text, again.json.iterations]).toEqual([0, "One file.", 2]);
    const other = await world.cli("run", "reader", "Something else.", "--replay", file);
    expect([other.code, other.stderr]).toEqual([5, expect.stringContaining("recording")]);
  });

  test("a run is one file, with the runs it started, for its owner alone", async () => {
    const world = createWorld();
    const child = keepRun(world, [{ ...STARTED, skill: "child" }, FINISHED]);
    const gone = createRunId();
    const parent = keepRun(world, [
      STARTED,
      { type: "child-started", childRunId: child, skill: "child" },
      { type: "child-started", childRunId: gone, skill: "gone" },
      FINISHED,
    ]);
    const { stdout } = await world.cli("runs", "export", parent);
    const { code } = await world.cli("runs", "export", parent, "-o", "run.jsonl");
    const file = join(world.project, "run.jsonl");
    expect(code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(stdout);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const recording = readRecording(file);
    expect(recording).toMatchObject({ ok: true });
    expect(recording.ok && recording.events.map(({ runId }) => runId)).toEqual([
      ...Array(4).fill(parent),
      ...Array(2).fill(child),
    ]);
    const again = await world.cli("runs", "export", parent, "-o", "run.jsonl");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("already exists")]);
    expect((await world.cli("runs", "export", parent, "--json")).json.events).toHaveLength(6);
    expect((await world.cli("runs", "export")).code).toBe(2);
    expect((await world.cli("runs", "export", "zzz")).code).toBe(1);
  });

  test("what cannot be read of a log is left out and told", async () => {
    const world = createWorld();
    const runId = keepRun(world, SAMPLE_RUN);
    appendFileSync(runFolder(metierPlaces(world.home), runId).log, "no event\n");
    const { code, stdout, stderr } = await world.cli("runs", "export", runId);
    expect(code).toBe(0);
    expect(stdout).not.toContain("no event");
    expect(stderr).toContain("Left out 1 line");
  });
});

describe("runs export --html", () => {
  test("writes one page with the run and the runs it started, and nothing of this machine's folders", async () => {
    const world = createWorld();
    const child = createRunId();
    const [started, ...rest] = SAMPLE_RUN;
    if (!started) throw new Error("no events");
    const childStarted: RunEventBody = { type: "child-started", childRunId: child, skill: "helper" };
    const runId = keepRun(world, [started, childStarted, ...rest], 1_400_000_000_000);
    keepRun(world, [{ ...STARTED, skill: "helper", parentRunId: runId }, FINISHED], undefined, child);
    const { code, stdout } = await world.cli("runs", "export", runId, "--html", "-o", "run.html");
    expect([code, stdout]).toEqual([0, expect.stringContaining("run.html. Open it in a browser.")]);
    const page = readFileSync(join(world.project, "run.html"), "utf8");
    const [, json = ""] = /id="metier-answers">(.*?)<\/script>/s.exec(page) ?? [];
    const answers = JSON.parse(json) as Record<string, { readonly status?: string }>;
    expect(Object.keys(answers).toSorted()).toEqual(
      [child, runId].flatMap((id) => [`/v1/runs/${id}`, `/v1/runs/${id}/events`]).toSorted(),
    );
    expect(answers[`/v1/runs/${runId}`]).toMatchObject({ status: "completed", skill: "research" });
    expect(page).toContain(`data-address="/run/${runId}"`);
    expect(json).not.toContain(world.home);
  });

  test("goes to stdout without a file, and never over one that exists", async () => {
    const world = createWorld();
    const runId = keepRun(world, SAMPLE_RUN);
    const { stdout } = await world.cli("runs", "export", runId, "--html");
    expect(stdout).toMatch(/^<!doctype html>/);
    expect((await world.cli("runs", "export", runId, "--html", "-o", "a.html")).code).toBe(0);
    expect((await world.cli("runs", "export", runId, "--html", "-o", "a.html")).code).toBe(2);
  });
});
