/** Cancelling a run at any point of it: it ends as `cancelled` with the text so far, and nothing it started lives on. */
import { randomInt } from "node:crypto";
import type { RunRequest, RunResult, Tool } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import type { Script } from "@metier/run/model";
import { expect, test } from "vitest";
import { processesWith, sleepersOf, until } from "../support/processes.ts";
import { describeSandbox } from "../support/sandbox.ts";
import {
  bash,
  calls,
  createRunWorld,
  openRuns,
  programTool,
  readLog,
  says,
  useSkill,
} from "../support/scripted-runs.ts";
import type { World } from "../support/world.ts";

const look = programTool("look", "Nothing to see.");

const FIRST = { answer: { text: "So far.", toolCalls: [{ tool: "look", input: {} }] } };

interface CancelledRun {
  readonly world: World;
  readonly result: RunResult;
}

/** Runs the script and cancels as soon as `when` says so of an event. */
async function cancelOn(
  script: Script,
  when: (event: RunEvent, cancel: () => void) => void,
  request: Partial<RunRequest> = {},
  tools: readonly Tool[] = [look],
): Promise<CancelledRun> {
  const world = createRunWorld({ outer: [], inner: ["max-iterations: 4"] });
  const { metier } = await openRuns(world, script, { tools });
  const cancel = new AbortController();
  const result = await metier.run({
    skill: "outer",
    approve: "all",
    signal: cancel.signal,
    onEvent: (event) => when(event, () => cancel.abort()),
    ...request,
  });
  const log = readLog(world, result.runId);
  expect(log.at(-1)).toMatchObject({ type: "run-finished", status: result.status, text: result.text });
  return { world, result };
}

test("during a model call", async () => {
  const { result } = await cancelOn(
    [FIRST, { answer: { text: "Never said.", delayMs: 600_000 } }],
    (event, cancel) => {
      if (event.type === "model-called" && event.step === 2) setImmediate(cancel);
    },
  );
  expect(result).toMatchObject({ status: "cancelled", text: "So far.", iterations: 2 });
});

test("in the middle of a streamed answer", async () => {
  const { result } = await cancelOn([says("word ".repeat(100_000))], (event, cancel) => {
    if (event.type === "text-delta") cancel();
  });
  expect(result.status).toBe("cancelled");
  expect(result.text).toMatch(/^word /);
  expect(result.text.length).toBeLessThan(400_000);
});

test("before the first step", async () => {
  const { result } = await cancelOn([], () => undefined, { signal: AbortSignal.abort() });
  expect(result).toMatchObject({ status: "cancelled", text: "" });
});

test("by the handle of a run in the background", async () => {
  const world = createRunWorld({ outer: [] });
  const { metier } = await openRuns(world, [{ answer: { text: "Never said.", delayMs: 600_000 } }]);
  const handle = metier.start({
    skill: "outer",
    onEvent: ({ type }) => {
      if (type === "model-called") setImmediate(() => handle.cancel());
    },
  });
  expect(await handle.result).toMatchObject({ runId: handle.runId, status: "cancelled" });
  expect(handle.status).toBe("cancelled");
});

test("while a question to the user is open, which nobody will ever answer", async () => {
  const stop = new AbortController();
  const { result } = await cancelOn([bash("true")], () => undefined, {
    signal: stop.signal,
    approve: () => {
      setImmediate(() => stop.abort());
      return new Promise(() => undefined);
    },
  });
  expect(result.status).toBe("cancelled");
});

test("while the model waits for the user's words", async () => {
  const stop = new AbortController();
  const { result } = await cancelOn([calls("ask_user", { question: "Which one?" })], () => undefined, {
    signal: stop.signal,
    askUser: () => {
      setImmediate(() => stop.abort());
      return new Promise(() => undefined);
    },
  });
  expect(result.status).toBe("cancelled");
});

test("while a tool of the embedding program does not listen", async () => {
  const deaf = programTool("deaf", () => new Promise(() => undefined));
  const { result } = await cancelOn(
    [calls("deaf", {})],
    (event, cancel) => {
      if (event.type === "tool-called") setImmediate(cancel);
    },
    {},
    [deaf],
  );
  expect(result.status).toBe("cancelled");
});

describeSandbox("while a command runs in the sandbox", () => {
  /** A command that starts processes in every way that tries to outlive it. */
  const stubborn = (mark: string): string =>
    `trap '' TERM INT HUP; sleep ${mark} & (setsid sleep ${mark} &) ; nohup sleep ${mark} & sleep ${mark}`;
  const newMark = (): string => `600.${randomInt(1e9)}`;

  /** Cancels once the marked processes are there. */
  async function cancelWhenRunning(mark: string, cancel: () => void): Promise<void> {
    await until("the command runs", () => sleepersOf(mark) === 4);
    cancel();
  }

  for (const nested of [false, true]) {
    test(nested ? "of a nested run: the whole tree is gone" : "the whole tree is gone", async () => {
      const mark = newMark();
      const script = [...(nested ? [useSkill("inner")] : []), bash(stubborn(mark))];
      const cancelled: Promise<void>[] = [];
      const { result } = await cancelOn(script, (event, cancel) => {
        if (event.type === "tool-called" && event.tool === "bash")
          cancelled.push(cancelWhenRunning(mark, cancel));
      });
      await Promise.all(cancelled);
      expect(result.status).toBe("cancelled");
      expect(processesWith(mark)).toEqual([]);
    });
  }

  test("a time limit kills the tree as well", async () => {
    const mark = newMark();
    const { result } = await cancelOn([bash(stubborn(mark))], () => undefined, {
      limits: { timeoutMs: 1500 },
    });
    expect(result).toMatchObject({ status: "limited", limit: "time" });
    expect(processesWith(mark)).toEqual([]);
  });

  test("what a finished command leaves in the background ends with the call", async () => {
    const mark = newMark();
    const { result } = await cancelOn(
      [bash(`(setsid sleep ${mark} &); echo started`), says("Done.")],
      () => undefined,
    );
    expect(result.status).toBe("completed");
    expect(processesWith(mark)).toEqual([]);
  });
});
