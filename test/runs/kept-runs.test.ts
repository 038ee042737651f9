/** Where runs are kept: in files, in memory, nowhere, or in a store of the program; by user, and only as long as told. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "@metier/base/errors";
import type { RunRequest } from "@metier/run";
import { createRunId, type KeptRun, type RunEvent, type RunStore } from "@metier/run/events";
import type { Metier, MetierOptions } from "@metier/runtime";
import { describe, expect, test } from "vitest";
import {
  bash,
  calls,
  createRunWorld,
  openRuns,
  programTool,
  says,
  useSkill,
} from "../support/scripted-runs.ts";
import type { World } from "../support/world.ts";

const CANARY = "the-blue-heron";

function everythingUnder(folder: string): string {
  if (!existsSync(folder)) return "";
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}

function runFolders({ home }: World): readonly string[] {
  const runs = join(home, ".metier", "state", "runs");
  return existsSync(runs) ? readdirSync(runs) : [];
}

/** A store as a program might have it over a table, with everything async. */
function createTable(): RunStore & { readonly events: RunStore["events"]; readonly rows: RunEvent[] } {
  const runs = new Map<string, KeptRun>();
  const rows: RunEvent[] = [];
  const pause = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    rows,
    async put(run) {
      await pause();
      runs.set(run.runId, run);
    },
    async append(event) {
      await pause();
      rows.push(event);
    },
    async list({ userId, before }) {
      await pause();
      const isWanted = (run: KeptRun): boolean =>
        (userId === undefined || run.userId === userId) &&
        (before === undefined || Date.parse(run.startedAt) < before.getTime());
      return [...runs.values()].filter(isWanted).toReversed();
    },
    events: async (runId) => rows.filter((event) => event.runId === runId),
    async delete(runIds) {
      for (let at = rows.length - 1; at >= 0; at--)
        if (runIds.includes(rows[at]?.runId ?? "")) rows.splice(at, 1);
      return runIds.filter((runId) => runs.delete(runId)).length;
    },
  };
}

const look = programTool("look", "Nothing to see.");

async function runFor(metier: Metier, userId: string | undefined, more: Partial<RunRequest> = {}) {
  return metier.run({
    skill: "build",
    message: CANARY,
    ...(userId !== undefined && { caller: { userId } }),
    ...more,
  });
}

const STORES: Readonly<Record<string, () => NonNullable<MetierOptions["runs"]>>> = {
  files: () => ({ store: "files" }),
  memory: () => ({ store: "memory" }),
  "of the program": () => ({ store: createTable() }),
};

describe.each(Object.entries(STORES))("a store: %s [L4]", (_name, runs) => {
  const open = async (turns: number) => {
    const world = createRunWorld({ build: [] });
    const script = Array.from({ length: turns }, (_, index) => says(`Answer ${index}.`));
    const { metier } = await openRuns(world, script, { runs: runs() });
    return { world, metier };
  };

  test("lists by user, skill, status and time, the newest first, and reads one with its events", async () => {
    const { metier } = await open(4);
    const ann = await runFor(metier, "ann");
    const bob = await runFor(metier, "bob");
    const again = await runFor(metier, "ann");
    await runFor(metier, undefined);
    const idsOf = async (filter: Parameters<typeof metier.runs.list>[0]) =>
      (await metier.runs.list(filter)).map(({ runId }) => runId);
    expect(new Set(await idsOf({ userId: "ann" }))).toEqual(new Set([again.runId, ann.runId]));
    expect(await metier.runs.list()).toHaveLength(4);
    expect(await metier.runs.get(ann.runId)).toMatchObject({
      runId: ann.runId,
      userId: "ann",
      skill: "build",
      status: "completed",
      text: "Answer 0.",
      usage: ann.usage,
    });
    const events = (await metier.runs.get(ann.runId))?.events ?? [];
    expect(events.map(({ type }) => type)).toEqual([
      "run-started",
      "model-called",
      "model-answered",
      "run-finished",
    ]);
    expect(JSON.stringify(events)).toContain(CANARY);
    expect(await metier.runs.get(bob.runId, { userId: "ann" })).toBeUndefined();
    expect(await metier.runs.get(bob.runId, { userId: "bob" })).toBeDefined();
    expect(await metier.runs.get("../../../etc/passwd")).toBeUndefined();
    expect(await metier.runs.get(createRunId())).toBeUndefined();
  });

  test("deletes all that is kept of a user, and nothing of another", async () => {
    const { world, metier } = await open(3);
    const ann = await runFor(metier, "ann");
    const bob = await runFor(metier, "bob");
    await runFor(metier, "ann");
    expect(await metier.runs.delete({ runId: bob.runId, userId: "ann" })).toBe(0);
    expect(await metier.runs.delete({ userId: "ann" })).toBe(2);
    expect(await metier.runs.list({ userId: "ann" })).toEqual([]);
    expect(await metier.runs.get(ann.runId)).toBeUndefined();
    expect((await metier.runs.list()).map(({ runId }) => runId)).toEqual([bob.runId]);
    expect(runFolders(world)).not.toContain(ann.runId);
    expect(await metier.runs.delete({ before: Date.now() + 1000 })).toBe(1);
    expect(await metier.runs.list()).toEqual([]);
  });

  test("never deletes all by mistake", async () => {
    const { metier } = await open(1);
    await runFor(metier, "ann");
    for (const which of [{}, { userId: undefined }, undefined]) {
      await expect(metier.runs.delete(which as never)).rejects.toThrow(/never deletes all runs/);
    }
    for (const which of [{ userId: "" }, { userId: null }, { before: "soon" }, { runId: 7 }]) {
      await expect(metier.runs.delete(which as never)).rejects.toBeInstanceOf(UsageError);
    }
    await expect(metier.runs.delete({ user: "ann" } as never)).rejects.toMatchObject({
      code: "option.unknown",
      hint: "Did you mean `userId`?",
    });
    expect(await metier.runs.list()).toHaveLength(1);
  });

  test("a run that is under way is listed as unfinished and is not deleted", async () => {
    const world = createRunWorld({ build: [] });
    let seen: unknown;
    const peek = programTool("peek", async () => {
      seen = [await metier.runs.delete({ userId: "ann" }), (await metier.runs.list())[0]?.status];
      return { text: "ok", isError: false };
    });
    const { metier } = await openRuns(world, [calls("peek", {}), says("Done.")], {
      tools: [peek],
      runs: runs(),
    });
    const result = await runFor(metier, "ann");
    expect(seen).toEqual([0, "unfinished"]);
    expect(await metier.runs.get(result.runId)).toMatchObject({ status: "completed" });
  });
});

test.each(Object.entries(STORES))(
  "a view of a user has the runs of that user alone: %s [L4]",
  async (_name, runs) => {
    const world = createRunWorld({ build: [] });
    const { metier } = await openRuns(
      world,
      [1, 2, 3].map((turn) => says(`Answer ${turn}.`)),
      { runs: runs() },
    );
    const views = [
      metier.for({ userId: "ann" }),
      metier.for({ userId: "ann", tenantId: "acme" }),
      metier.for({ userId: "bob", tenantId: "acme" }),
    ];
    const ids: string[] = [];
    for (const view of views) ids.push((await view.run({ skill: "build" })).runId);
    for (const [at, view] of views.entries()) {
      expect((await view.runs.list({ limit: 5 })).map(({ runId }) => runId)).toEqual([ids[at]]);
      const seen = await Promise.all(ids.map(async (id) => (await view.runs.get(id)) !== undefined));
      expect(seen).toEqual(views.map((_, other) => other === at));
    }
    const [ann, annOfAcme, bob] = views;
    expect(await ann?.runs.list({ userId: "bob" })).toEqual([]);
    expect(await ann?.runs.delete({ runId: ids[1] ?? "" })).toBe(0);
    expect(await ann?.runs.delete({ tenantId: "acme" })).toBe(0);
    expect(await bob?.runs.delete({ before: Date.now() + 1000 })).toBe(1);
    expect(await annOfAcme?.runs.delete({ userId: "ann" })).toBe(1);
    expect((await metier.runs.list()).map(({ runId }) => runId)).toEqual([ids[0]]);
  },
);

test("nested runs and chats are kept for the user who asked [L4]", async () => {
  const world = createRunWorld({ outer: [], inner: ["context: fork"] });
  const script = [useSkill("inner"), says("In."), says("Out."), says("Hello.")];
  const { metier } = await openRuns(world, script, { runs: { store: "memory" } });
  await metier.run({ skill: "outer", caller: { userId: "ann" } });
  await (await metier.chat({ caller: { userId: "ann" } })).send("Hi.");
  const kept = await metier.runs.list({ userId: "ann" });
  expect(kept.map(({ skill }) => skill).toSorted()).toEqual(["chat", "inner", "outer"]);
  expect(await metier.runs.list({ skill: "inner", status: "completed", limit: 1 })).toHaveLength(1);
  expect(await metier.runs.list({ status: "failed" })).toEqual([]);
});

describe.each(["none", "memory"] as const)("with the store `%s` [L4]", (store) => {
  test("nothing of a run lies on disk afterwards, neither prompts nor files it wrote", async () => {
    const world = createRunWorld({ build: [] });
    const script = [
      bash(`echo ${CANARY} > "$METIER_WORK_DIR/note.txt"`),
      says(`${CANARY} again`),
      says(CANARY),
    ];
    const { metier } = await openRuns(world, script, { runs: { store } });
    const result = await runFor(metier, "ann", { approve: "all" });
    expect(result).toMatchObject({ status: "completed", files: [{ path: "note.txt" }] });
    await (await metier.chat()).send(CANARY);
    expect(runFolders(world)).toEqual([]);
    expect(everythingUnder(join(world.home, ".metier", "state"))).not.toContain(CANARY);
    expect(await metier.runs.list()).toHaveLength(store === "none" ? 0 : 2);
  });

  test("files stay where the caller named a folder", async () => {
    const world = createRunWorld({ build: [] });
    const script = [bash('printf kept > "$METIER_WORK_DIR/note.txt"'), says("Done.")];
    const { metier } = await openRuns(world, script, { runs: { store } });
    world.write({ "work/.keep": "" });
    const workDir = join(world.root, "work");
    const result = await runFor(metier, "ann", { approve: "all", workDir });
    expect(result.files.map(({ path }) => path)).toContain("note.txt");
    expect(readFileSync(join(workDir, "note.txt"), "utf8")).toBe("kept");
    expect(runFolders(world)).toEqual([]);
  });
});

test("a store that fails ends no run, and the result says so", async () => {
  const failing: RunStore = {
    ...createTable(),
    append: async () => {
      throw new Error("the table is locked");
    },
  };
  const world = createRunWorld({ build: [] });
  const { metier } = await openRuns(world, [calls("look", {}), says("Done.")], {
    runs: { store: failing },
    tools: [look],
  });
  const result = await runFor(metier, "ann");
  expect(result).toMatchObject({ status: "completed", text: "Done." });
  expect(result.diagnostics).toMatchObject([
    { code: "run.sink-failed", message: expect.stringContaining("the table is locked") },
  ]);
});

test("`keepDays` removes older runs when a new one starts", async () => {
  const world = createRunWorld({ build: [] });
  const day = 24 * 60 * 60 * 1000;
  const [old, young] = [createRunId(Date.now() - 3 * day), createRunId(Date.now() - day)];
  for (const id of [old, young]) world.write({ [`home/.metier/state/runs/${id}/events.jsonl`]: "" });
  const { metier } = await openRuns(world, [says("Done.")], { runs: { keepDays: 2 } });
  const { runId } = await runFor(metier, "ann");
  expect(runFolders(world).toSorted()).toEqual([young, runId]);

  const table = createTable();
  const startedAt = new Date(Date.now() - 3 * day).toISOString();
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  await table.put({ runId: old, skill: "build", status: "completed", startedAt, iterations: 1, usage });
  const second = await openRuns(world, [says("Done.")], { runs: { store: table, keepDays: 2 } });
  const result = await runFor(second.metier, "ann");
  while ((await table.list({})).length > 1) await new Promise((resolve) => setImmediate(resolve));
  expect((await table.list({})).map((run) => run.runId)).toEqual([result.runId]);
});

test("a day's budget holds also where nothing is kept", async () => {
  const world = createRunWorld({ build: [] });
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  const file = join(world.root, "script.json");
  world.write({
    "script.json": JSON.stringify([{ answer: { text: "Done.", usage } }]),
    "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(file)}\ninput-price = 1\n[runs]\nmax-cost-per-day = 2\n`,
  });
  const metier = await world.metier({ runs: { store: "none" } });
  for (let count = 0; count < 2; count++) {
    expect(await runFor(metier, "ann")).toMatchObject({ status: "completed", cost: 1 });
  }
  expect(await runFor(metier, "ann")).toMatchObject({ error: { code: "runs.day-budget" } });
  // In another process, too, which keeps its runs.
  expect((await world.cli("run", "build")).stderr).toContain("today's runs cost $2.0000 of $2");
});

test.each<readonly [runs: object, message: RegExp]>([
  [{ store: "disk" }, /`runs.store` is `disk`; it must be `files`, `memory`, `none` or a store/],
  [{ store: { put: () => undefined } }, /`runs.store` has no function `append`/],
  [{ keepDays: 0 }, /`runs.keepDays` is `0`; it must be a number above 0/],
  [{ keepDay: 3 }, /has no option `keepDay`/],
])("runs: %j is a usage error", async (runs, message) => {
  const world = createRunWorld({});
  await expect(world.metier({ runs: runs as never })).rejects.toThrow(message);
});
