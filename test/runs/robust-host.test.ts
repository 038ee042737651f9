/** Callbacks of the embedding program may be async, throw, reject or hang: a run does not care, and says so once. */
import { setTimeout as wait } from "node:timers/promises";
import type { RunRequest } from "@metier/run";
import { describe, expect, test } from "vitest";
import { openChat } from "../support/chat.ts";
import { withGrowingTime } from "../support/growing-time.ts";
import {
  calls,
  createRunWorld,
  eventsOf,
  openRuns,
  programTool,
  readLog,
  says,
  useSkill,
} from "../support/scripted-runs.ts";
import { skill } from "../support/world.ts";

const look = programTool("look", "Nothing to see.");
const change = programTool("change", "Changed.", "write");

const FAILING = {
  throws: () => {
    throw new Error("the socket is gone");
  },
  rejects: async () => {
    throw new Error("the socket is gone");
  },
  "rejects later": async () => {
    await null;
    await null;
    throw new Error("the socket is gone");
  },
  "throws what is no error": () => {
    throw Object.create(null);
  },
} as const;

const SCRIPT = [calls("look", {}), says("Done.")];

describe.each(Object.entries(FAILING))("an `onEvent` that %s [L1]", (_how, onEvent) => {
  test("ends nothing, and is a diagnostic of the run, once", async () => {
    const world = createRunWorld({ build: [] });
    const { metier } = await openRuns(world, SCRIPT, { tools: [look] });
    let heard = 0;
    const result = await metier.run({
      skill: "build",
      onEvent(event) {
        heard += 1;
        return event.type === "text-delta" ? undefined : onEvent();
      },
    });
    expect(result).toMatchObject({ status: "completed", text: "Done." });
    expect(heard).toBeGreaterThan(6);
    const failed = result.diagnostics.filter(({ code }) => code === "host.callback-failed");
    expect(failed).toHaveLength(1);
    expect(failed[0]?.message).toMatch(
      /^The program's `onEvent` failed: (?:the socket is gone|a value that)/,
    );
    const log = readLog(world, result.runId);
    expect(log.at(-1)).toMatchObject({ type: "run-finished" });
    expect(eventsOf(log, "diagnostic").filter(({ code }) => code === "host.callback-failed")).toHaveLength(1);
  });

  test("as that of `createMetier` is reported for each run, and its neighbours hear everything", async () => {
    const world = createRunWorld({ outer: [], inner: ["context: fork"] });
    const script = [useSkill("inner"), says("In."), says("Out.")];
    const { run } = await openRuns(world, script, { onEvent });
    const { result, events } = await run({ skill: "outer" });
    expect(result).toMatchObject({ status: "completed", text: "Out." });
    expect(result.diagnostics.map(({ code }) => code)).toContain("host.callback-failed");
    expect(eventsOf(events, "run-finished")).toHaveLength(2);
  });
});

test("`createMetier({ onEvent })` hears of runs, nested runs, chats and scripts, with the user [L4]", async () => {
  const world = createRunWorld({ outer: [], inner: ["context: fork"] });
  const heard: string[] = [];
  const script = [useSkill("inner"), says("In."), says("Out."), says("Hello.")];
  const { metier } = await openRuns(world, script, {
    async onEvent(event) {
      if (event.type === "run-started") heard.push(`${event.skill} ${event.userId}`);
    },
  });
  await metier.run({ skill: "outer", caller: { userId: "ann" } });
  const chat = await metier.chat({ caller: { userId: "bob" } });
  await chat.send("Hi.");
  expect(heard).toEqual(["outer ann", "inner ann", "chat bob"]);
});

test("a callback that fails after its run has ended reaches the logger", async () => {
  const world = createRunWorld({ build: [] });
  const lines: unknown[][] = [];
  const line = (...given: unknown[]) => void lines.push(given);
  const logger = { debug: line, info: line, warn: line, error: line };
  const { metier } = await openRuns(world, [says("Done.")], { logger });
  const late = Promise.withResolvers<void>();
  const result = await metier.run({
    skill: "build",
    onEvent: async (event) => event.type === "run-finished" && late.promise,
  });
  expect(result.diagnostics).toEqual([]);
  late.reject(new Error("too late"));
  await wait(1);
  expect(lines.at(-1)).toEqual([
    "The program's `onEvent` failed: too late",
    expect.objectContaining({ code: "host.callback-failed", callback: "onEvent", err: expect.any(Error) }),
  ]);
});

describe("a question that is not answered is a no, and the result says so [L1]", () => {
  const asking = async (request: Partial<RunRequest>) => {
    const world = createRunWorld({ build: [] });
    const tools = [change, look];
    const { run } = await openRuns(world, [calls("change", {}), says("Done.")], { tools });
    return run({ skill: "build", ...request });
  };

  test.each(Object.entries(FAILING))("`approve` that %s", async (_how, approve) => {
    const { result } = await asking({ approve });
    expect(result).toMatchObject({ status: "completed", text: "Done." });
    expect(result.denied).toMatchObject([
      { tool: "change", reason: expect.stringContaining("could not be asked") },
    ]);
    expect(result.diagnostics.map(({ code }) => code)).toEqual(["host.callback-failed"]);
  });

  test("`approve` that answers with something else", async () => {
    const { result } = await asking({ approve: (() => true) as never });
    expect(result.denied).toMatchObject([
      { reason: expect.stringContaining("`approve` returned a boolean; it must be `yes`, `no`") },
    ]);
  });

  test("`approve` that never answers ends with the run", async () => {
    const { outcome } = await withGrowingTime(
      async (timeoutMs) => {
        const world = createRunWorld({ build: [] });
        const { metier, model } = await openRuns(world, [calls("change", {})], { tools: [change] });
        const approve = () => new Promise<never>(() => undefined);
        return { model, result: await metier.run({ skill: "build", limits: { timeoutMs }, approve }) };
      },
      ({ result }) => result.denied.length > 0,
    );
    const { model, result } = outcome;
    expect(result).toMatchObject({ status: "limited", limit: "time" });
    expect(result.denied).toMatchObject([
      { tool: "change", reason: expect.stringContaining("before anyone answered") },
    ]);
    expect(model.remaining).toBe(0);
  });

  test.each(Object.entries(FAILING))("`askUser` that %s", async (_how, askUser) => {
    const world = createRunWorld({ build: [] });
    const script = [
      calls("ask_user", { question: "Which?" }),
      says("Then neither.", { toolResult: { contains: "could not be asked" } }),
    ];
    const { run } = await openRuns(world, script);
    const { result } = await run({ skill: "build", askUser: askUser as NonNullable<RunRequest["askUser"]> });
    expect(result.text).toBe("Then neither.");
    expect(result.diagnostics.map(({ code }) => code)).toEqual(["host.callback-failed"]);
  });
});

test("a tool of the program that throws, rejects or answers after the end harms nothing [L1]", async () => {
  const world = createRunWorld({ build: [] });
  const late = Promise.withResolvers<never>();
  const stop = new AbortController();
  const tools = [
    programTool("throws", () => {
      throw new Error("no such table");
    }),
    programTool("rejects", async () => {
      throw new Error("no such table");
    }),
    programTool(
      "hangs",
      () => {
        stop.abort();
        return late.promise;
      },
      "talk",
    ),
  ];
  const script = [
    calls("throws", {}),
    calls("rejects", {}, { toolResult: { contains: "`throws` failed: no such table" } }),
    says("Done.", { toolResult: { contains: "`rejects` failed: no such table" } }),
    calls("hangs", {}),
  ];
  const { metier } = await openRuns(world, script, { tools });
  expect(await metier.run({ skill: "build" })).toMatchObject({ status: "completed" });
  expect(await metier.run({ skill: "build", signal: stop.signal })).toMatchObject({ status: "cancelled" });
  late.reject(new Error("far too late"));
  await wait(1);
});

test("an `onEvent` of a chat may fail, too", async () => {
  const world = createRunWorld({ build: [] });
  const { metier } = await openChat(world, [says("Hello."), says("Again.")]);
  const chat = await metier.chat({ onEvent: FAILING.rejects });
  for (const text of ["Hello.", "Again."]) {
    const turn = await chat.send("Hi.");
    expect(turn).toMatchObject({ status: "completed", text });
    expect(turn.diagnostics.map(({ code }) => code)).toEqual(["host.callback-failed"]);
  }
});

test.each(Object.entries(FAILING))(
  "a `watch` callback that %s is told to the logger, and the watch goes on [L1]",
  async (_how, onChange) => {
    const world = createRunWorld({ build: [] });
    const faults: object[] = [];
    const ignore = () => undefined;
    const logger = {
      child: ignore,
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: (fields: object) => void faults.push(fields),
    };
    const metier = await world.metier({ logger });
    const second = Promise.withResolvers<void>();
    let changes = 0;
    const stop = metier.watch(() => {
      changes += 1;
      if (changes === 2) second.resolve();
      return onChange();
    });
    world.write({ "home/.metier/skills/one/SKILL.md": skill("one") });
    while (changes === 0) await wait(10);
    world.write({ "home/.metier/skills/two/SKILL.md": skill("two") });
    await second.promise;
    stop();
    await wait(1);
    expect(metier.has("two")).toBe(true);
    expect(faults[0]).toMatchObject({ code: "host.callback-failed", callback: "watch" });
  },
);
