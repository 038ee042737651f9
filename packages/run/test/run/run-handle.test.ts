import { describe, expect, test } from "vitest";
import { EVENT_VERSION, type RunEvent } from "../../src/events/run-event.ts";
import { openHandle, type RunHandle, type RunWork } from "../../src/run/run-request.ts";
import { type RunResult, refusedResult } from "../../src/run/run-result.ts";

const ENDED: RunResult = {
  ...refusedResult("r1", { skill: "a", reason: "not-found", message: "", hint: "", data: {}, also: [] }),
  status: "completed",
  text: "Done.",
};

function event(seq: number): RunEvent {
  const at = "2025-01-01T00:00:00.000Z";
  return { v: EVENT_VERSION, runId: "r1", seq, at, type: "text-delta", step: 1, text: `${seq}` };
}

/** A run whose work is done by the test. */
function open(caller?: AbortSignal): {
  readonly handle: RunHandle;
  readonly work: RunWork;
  end(result?: RunResult): void;
  fail(error: Error): void;
} {
  const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
  const work = openHandle("r1", caller);
  const handle = work.follow(promise);
  return { handle, work, end: (result = ENDED) => resolve(result), fail: reject };
}

async function collect(events: AsyncIterable<RunEvent>): Promise<readonly number[]> {
  const seen: number[] = [];
  for await (const { seq } of events) seen.push(seq);
  return seen;
}

describe("a run in the background", () => {
  test("is running until it has a result, whose status it then has", async () => {
    const { handle, end } = open();
    expect(handle.runId).toBe("r1");
    expect(handle.status).toBe("running");
    end();
    expect(await handle.result).toBe(ENDED);
    expect(handle.status).toBe("completed");
  });

  test("is told to stop by `cancel` and by the caller's signal", () => {
    const cancelled = open();
    cancelled.handle.cancel();
    expect(cancelled.work.signal.aborted).toBe(true);
    const caller = new AbortController();
    const stopped = open(caller.signal);
    expect(stopped.work.signal.aborted).toBe(false);
    caller.abort();
    expect(stopped.work.signal.aborted).toBe(true);
  });

  test("gives every listener the events from then on, in order, until it ends", async () => {
    const { handle, work, end } = open();
    const first = collect(handle.events());
    await Promise.resolve();
    work.onEvent(event(1));
    const second = collect(handle.events());
    await Promise.resolve();
    work.onEvent(event(2));
    work.onEvent(event(3));
    end();
    expect(await first).toEqual([1, 2, 3]);
    expect(await second).toEqual([2, 3]);
  });

  test("keeps events for a listener that comes back to them later", async () => {
    const { handle, work, end } = open();
    const events = handle.events();
    work.onEvent(event(1));
    end();
    await handle.result;
    expect(await collect(events)).toEqual([1]);
  });

  test("has no events after its end", async () => {
    const { handle, end } = open();
    end();
    await handle.result;
    expect(await collect(handle.events())).toEqual([]);
  });

  test("lets a listener leave early", async () => {
    const { handle, work, end } = open();
    const left = (async () => {
      for await (const { seq } of handle.events()) return seq;
      return 0;
    })();
    await Promise.resolve();
    work.onEvent(event(1));
    expect(await left).toBe(1);
    work.onEvent(event(2));
    end();
    expect((await handle.result).text).toBe("Done.");
  });

  test("passes on a fault of the host, and ends its events", async () => {
    const { handle, fail } = open();
    const events = collect(handle.events());
    await Promise.resolve();
    fail(new Error("The disk is full."));
    await expect(handle.result).rejects.toThrow("The disk is full.");
    expect(await events).toEqual([]);
    expect(handle.status).toBe("failed");
    expect(await collect(handle.events())).toEqual([]);
  });
});
