import { UsageError } from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "../../src/events/run-event.ts";
import { openHandle, type RunHandle } from "../../src/run/run-request.ts";
import { type RunResult, refusedResult } from "../../src/run/run-result.ts";

const REFUSAL = { skill: "a", reason: "not-found", message: "/srv/x", hint: "", data: {}, also: [] } as const;
const REFUSED: RunResult = refusedResult("r1", REFUSAL);
const ENDED: RunResult = { ...REFUSED, status: "completed", text: "Done." };

interface OpenRun {
  readonly handle: RunHandle;
  readonly signal: AbortSignal;
  tell(body: RunEventBody, runId?: string): void;
  say(text: string): void;
  end(result?: RunResult): Promise<RunResult>;
  fail(fault: Error): void;
}

function open(): OpenRun {
  const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
  const work = openHandle("r1", undefined, [["/srv/home", "~"]]);
  const handle = work.follow(promise);
  const tell = (body: RunEventBody, runId = "r1"): void => {
    const event = { v: EVENT_VERSION, runId, seq: 1, at: "2025-01-01T00:00:00.000Z", ...body };
    work.onEvent(event as RunEvent);
  };
  return {
    handle,
    signal: work.signal,
    tell,
    say: (text) => tell({ type: "text-delta", step: 1, text }),
    end(result = ENDED) {
      resolve(result);
      return handle.result;
    },
    fail: reject,
  };
}

async function gather<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** The events of a response, and the `id` of each. */
async function readEvents(response: Response): Promise<readonly (readonly [string, string])[]> {
  const text = await response.text();
  return [...text.matchAll(/^id: (.+)\ndata: (.+)$/gm)].map(([, id = "", data = ""]) => {
    const event = JSON.parse(data);
    expect(event.id).toBe(id);
    return [id, event.text ?? event.type] as const;
  });
}

describe("the streams of a run", () => {
  test("`events` is read by `for await` as it is, and by a call", async () => {
    const { handle, say, end } = open();
    const read = gather(handle.events);
    const called = gather(handle.events());
    say("a");
    await end();
    expect(await read).toHaveLength(1);
    expect(await called).toHaveLength(1);
  });

  test("begin at the beginning, whenever they are opened, and each has everything", async () => {
    const { handle, say, end } = open();
    say("Hello ");
    const early = gather(handle.textStream);
    await new Promise(setImmediate);
    say("world");
    await end();
    expect((await early).join("")).toBe("Hello world");
    expect((await gather(handle.textStream)).join("")).toBe("Hello world");
    expect(handle.textStream).toBeInstanceOf(ReadableStream);
  });

  test("a stream that was cut goes on where it was, without a gap or anything twice", async () => {
    const { handle, say, tell, end } = open();
    say("one ");
    say("two ");
    tell({ type: "model-called", step: 2, messages: [] });
    const body = handle.toResponse({ onDisconnect: "continue" }).body?.getReader();
    await body?.read(); // It is open.
    const { value } = (await body?.read()) ?? {};
    await body?.cancel();
    const [lastEventId] = /(?<=^id: ).+$/m.exec(new TextDecoder().decode(value)) ?? [];
    tell({ type: "text-delta", step: 2, text: "three" });
    await end();
    expect(await readEvents(handle.toResponse({ lastEventId }))).toEqual([
      ["r1.2.0", "step-started"],
      ["r1.2.1", "three"],
      ["r1.4.0", "Done."],
    ]);
    const all = await readEvents(handle.toResponse({ lastEventId: "other.7.0" }));
    expect(all.map(([, told]) => told)).toEqual(["one two ", "step-started", "three", "Done."]);
    const over = handle.toResponse({ lastEventId: "r1.4.0" });
    expect([over.status, await over.text()]).toEqual([204, ""]);
  });

  test("a client that leaves ends the run, unless another is there or it may go on", async () => {
    const goesOn = open();
    await goesOn.handle.toResponse({ onDisconnect: "continue" }).body?.cancel();
    expect(goesOn.signal.aborted).toBe(false);
    const shared = open();
    const first = shared.handle.toResponse();
    const second = shared.handle.toUIMessageStreamResponse();
    await first.body?.cancel();
    expect(shared.signal.aborted).toBe(false);
    await second.body?.cancel();
    expect(shared.signal.aborted).toBe(true);
    const request = new AbortController();
    const left = open();
    left.handle.toResponse({ signal: request.signal });
    expect(left.signal.aborted).toBe(false);
    request.abort();
    expect(left.signal.aborted).toBe(true);
    const late = open();
    const response = late.handle.toResponse();
    await late.end();
    await response.text();
    expect(late.signal.aborted).toBe(false);
    const read = open();
    await read.handle.textStream.cancel();
    expect(read.signal.aborted).toBe(false);
  });

  test("say that they are alive while nothing happens", async () => {
    const { handle, end } = open();
    const response = handle.toResponse({ heartbeatMs: 5, headers: { "x-own": "1", connection: "close" } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      connection: "close",
      "x-own": "1",
    });
    const reader = response.body?.getReader();
    const told: string[] = [];
    while (told.length < 3) told.push(new TextDecoder().decode((await reader?.read())?.value));
    expect(told).toEqual([": open\n\n", ": heartbeat\n\n", ": heartbeat\n\n"]);
    await end();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("run-finished");
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  test("end when the run was refused before it began, or the host failed, and say nothing of why", async () => {
    const refused = open();
    await refused.end(REFUSED);
    expect(await gather(refused.handle.clientEvents())).toMatchObject([
      { type: "run-finished", status: "refused", error: { code: "not-found" } },
    ]);
    const failed = open();
    const events = gather(failed.handle.clientEvents());
    failed.fail(new Error("/srv/secret is full"));
    expect(JSON.stringify(await events)).not.toContain("/srv");
    expect(await events).toMatchObject([{ type: "run-finished", status: "failed" }]);
    expect(await gather(failed.handle.textStream)).toEqual([]);
  });

  test("say what the program wants said of a run that did not complete, and do without when that fails", async () => {
    const { handle, end } = open();
    await end(REFUSED);
    const words = await gather(handle.clientEvents({ errorText: ({ refusal }) => `No: ${refusal?.reason}` }));
    expect(words).toMatchObject([{ error: { code: "not-found", message: "No: not-found" } }]);
    const fails = handle.clientEvents({
      errorText: () => {
        throw new Error("none");
      },
    });
    expect(await gather(fails)).toMatchObject([{ error: { message: "This request was not accepted." } }]);
  });

  test("[L6] throw at once for an option that is not known or cannot be", () => {
    const { handle } = open();
    const known = { showTool: ["a"] } as object;
    expect(() => handle.toResponse(known)).toThrow(/no option .*showTool/);
    expect(() => handle.toUIMessageStream({ showTools: "a" as never })).toThrow(UsageError);
    expect(() => handle.toResponse({ onDisconnect: "stop" as never })).toThrow(/"cancel" or "continue"/);
    expect(() => handle.toResponse({ heartbeatMs: 0 })).toThrow(/heartbeatMs/);
  });
});

describe("what clients see of a run", () => {
  const START = {
    type: "run-started",
    skill: "pdf",
    source: "code",
    location: "/srv/skills/pdf/SKILL.md",
    trust: "trusted",
    model: "secret/model",
    depth: 0,
    tools: ["read_file"],
    workDir: "/srv/runs/r1/work",
    skillDir: "/srv/skills/pdf",
    cwd: "/srv/users/ada",
    env: ["TOKEN"],
  } as const;
  const CALL = { type: "tool-called", step: 1, callId: "c", tool: "look", rule: "/srv/rule" } as const;
  const ANSWER = { type: "tool-finished", step: 1, callId: "c", tool: "look", isError: false } as const;

  function play({ tell, say }: OpenRun): void {
    tell(START);
    tell({ type: "model-called", step: 1, system: "The prompt", messages: [] });
    say("In /srv/us");
    say("ers/ada/a.txt and /srv/home/x");
    tell({ ...CALL, input: { path: "/srv/runs/r1/work/a" }, decision: "allow" });
    tell({ ...ANSWER, text: "of /srv/skills/pdf/x", durationMs: 1 });
    tell({ type: "child-started", childRunId: "r2", skill: "inner" });
    tell({ ...START, skill: "inner", skillDir: "/srv/inner" }, "r2");
    tell({ type: "text-delta", step: 1, text: "inner words" }, "r2");
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    const finished = {
      status: "completed",
      text: "inner words",
      iterations: 1,
      usage,
      durationMs: 1,
    } as const;
    tell({ type: "run-finished", ...finished }, "r2");
    tell({ type: "diagnostic", code: "x", message: "/srv/y" });
  }

  test("is what is named, and no folder of the server", async () => {
    const run = open();
    play(run);
    await run.end({ ...ENDED, text: "In /srv/users/ada/a.txt", object: { at: "/srv/users/ada/a.txt" } });
    const events = await gather(run.handle.clientEvents());
    expect(events.map(({ id, runId, ...told }) => told)).toEqual([
      { type: "run-started", skill: "pdf" },
      { type: "step-started", step: 1 },
      { type: "text-delta", step: 1, text: "In ./a.txt and ~/x" },
      { type: "tool-called", step: 1, callId: "c", tool: "look", allowed: true },
      { type: "tool-finished", step: 1, callId: "c", tool: "look", isError: false },
      { type: "skill-started", skillRunId: "r2", skill: "inner" },
      { type: "skill-finished", skillRunId: "r2", skill: "inner", status: "completed" },
      { type: "run-finished", status: "completed", text: "In ./a.txt", object: { at: "./a.txt" } },
    ]);
    expect((await gather(run.handle.textStream)).join("")).toBe("In ./a.txt and ~/x");
  });

  test("has inputs and outputs of the tools that are to be shown, without folders", async () => {
    const run = open();
    play(run);
    await run.end();
    const events = await gather(run.handle.clientEvents({ showTools: ["look"] }));
    expect(events).toContainEqual(expect.objectContaining({ input: { path: "./a" } }));
    expect(events).toContainEqual(expect.objectContaining({ output: "of skill:pdf/x" }));
    expect(JSON.stringify(events)).not.toContain("/srv");
  });
});
