import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { createRedactor } from "@metier/sandbox/secrets";
import { dynamicTool, jsonSchema, ToolLoopAgent } from "ai";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "../../src/events/run-event.ts";
import { createReplay, ReplayDivergenceError, type ReplayedRun } from "../../src/model/replay-model.ts";
import { resolveModel } from "../../src/model/resolve-model.ts";
import type { Script } from "../../src/model/script.ts";
import { createScriptModel } from "../../src/model/scripted-model.ts";
import { guardModel } from "../../src/run/guard-model.ts";

interface Run extends ReplayedRun {
  readonly workDir: string;
  readonly cwd: string;
}

/** The same thing at another place. */
function place(runId: string, parentRunId?: string): Run {
  const folder = temporaryFolder();
  const run = { runId, skill: "report", workDir: join(folder, runId, "work"), cwd: folder };
  return parentRunId === undefined ? run : { ...run, parentRunId };
}

const SCRIPT: Script = [
  {
    answer: {
      text: "Looking.",
      toolCalls: [
        { tool: "look", input: { at: "a" } },
        { tool: "look", input: { at: "b" } },
      ],
    },
  },
  { answer: { text: "Both are there.", usage: { inputTokens: 7, outputTokens: 3 } } },
];

interface Loop {
  readonly look?: (at: string, run: Run) => Promise<string> | string;
  readonly prompt?: string;
}

/** Finishes in an order of its own, and says things that are new every time. */
async function lookAround(at: string, { workDir }: Run): Promise<string> {
  if (at === "a") await new Promise((done) => setTimeout(done, Math.random() * 20));
  return `${workDir}/${at} seen at ${new Date().toISOString()} in ${(Math.random() + 1).toFixed(3)}s (${crypto.randomUUID()})`;
}

async function loop(model: LanguageModelV4, run: Run, { look = lookAround, prompt = "Look." }: Loop = {}) {
  const agent = new ToolLoopAgent({
    model,
    instructions: `You work in ${run.workDir}. Today is ${new Date().toISOString().slice(0, 10)}.`,
    maxRetries: 0,
    onError: () => undefined,
    tools: {
      look: dynamicTool({
        description: "Looks.",
        inputSchema: jsonSchema({ type: "object" }),
        execute: async (input) => look((input as { at: string }).at, run),
      }),
    },
  });
  const result = await agent.stream({ prompt });
  let error: unknown;
  for await (const part of result.stream) if (part.type === "error") error = part.error;
  return { error, text: error ? "" : await result.text, usage: error ? undefined : await result.usage };
}

async function record(run: Run, script = SCRIPT): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  const emit = (body: RunEventBody): void => {
    if (body.type === "text-delta") return;
    events.push({
      ...body,
      v: EVENT_VERSION,
      runId: run.runId,
      seq: events.length + 1,
      at: new Date().toISOString(),
    });
  };
  const { skill, workDir, cwd, parentRunId } = run;
  emit({
    type: "run-started",
    source: "user",
    location: "/skills/report/SKILL.md",
    trust: "trusted",
    model: "scripted/script",
    depth: parentRunId === undefined ? 0 : 1,
    tools: ["look"],
    env: [],
    skill,
    workDir,
    cwd,
    ...(parentRunId !== undefined && { parentRunId }),
  });
  const guard = {
    redactor: createRedactor(),
    emit,
    onUsage: () => undefined,
    onText: () => undefined,
    onOutput: () => undefined,
  };
  await loop(guardModel(createScriptModel(script), guard), run);
  return events;
}

async function divergence(events: readonly RunEvent[], how: Loop): Promise<ReplayDivergenceError> {
  const run = place("run-now");
  const { error } = await loop(createReplay(events).modelFor(run), run, how);
  if (!(error instanceof ReplayDivergenceError)) throw new Error(`no divergence: ${String(error)}`);
  return error;
}

test("a recorded run is replayed at another place and time, with its answers and usage", async () => {
  const events = await record(place("run-then"));
  const run = place("run-now");
  const replay = createReplay(events);
  const { error, text, usage } = await loop(replay.modelFor(run), run);
  expect(error).toBeUndefined();
  expect(text).toBe("Both are there.");
  expect(usage).toMatchObject({ inputTokens: 17, outputTokens: 8 });
  expect(replay.unfinished()).toEqual([]);
});

describe("a real difference ends it", () => {
  test("a tool that answers otherwise", async () => {
    const error = await divergence(await record(place("run-then")), { look: (at) => `${at} is gone` });
    expect(error).toMatchObject({ code: "replay.diverged", step: 2, what: "the result of `look`" });
    expect(error.recorded).toContain("<work>/a seen at <time> in <duration> (<uuid>)");
    expect(error.message).toContain('now:      "a is gone"');
  });

  test("a tool that fails where it did not", async () => {
    const look = (): never => {
      throw new Error("broken");
    };
    expect((await divergence(await record(place("run-then")), { look })).came).toContain("error: ");
  });

  test("another message", async () => {
    const error = await divergence(await record(place("run-then")), { prompt: "Listen." });
    expect(error).toMatchObject({
      step: 1,
      what: "a user's text",
      recorded: '"Look."',
      came: '"Listen."',
    });
  });

  test("another system prompt", async () => {
    const events = await record(place("run-then"));
    const changed = events.map((event) =>
      event.type === "model-called" && event.system
        ? { ...event, system: `${event.system} Be kind.` }
        : event,
    );
    expect((await divergence(changed, {})).what).toBe("the system prompt");
  });

  test("a recording that stops before the answer", async () => {
    const events = (await record(place("run-then"))).filter(
      (event) => event.type !== "model-answered" || event.step === 1,
    );
    expect((await divergence(events, {})).recorded).toContain("the recorded run ended here");
  });
});

test("runs that ended early are told", async () => {
  const replay = createReplay(await record(place("run-then")));
  replay.modelFor(place("run-now"));
  expect(replay.unfinished()).toEqual([
    "The recorded run of `report` asked its model 2 times; the replay ended after 0.",
  ]);
});

test("nested runs are replayed from their own part of the recording", async () => {
  const child = place("child-then", "run-then");
  const events = [
    ...(await record(place("run-then"))),
    ...(await record(child, [{ answer: { text: "I am the child." } }])),
  ];
  const replay = createReplay(events);
  const [run, first, second] = [
    place("run-now"),
    place("child-now", "run-now"),
    place("other-now", "run-now"),
  ];
  expect((await loop(replay.modelFor(run), run)).text).toBe("Both are there.");
  expect((await loop(replay.modelFor(first), first)).text).toBe("I am the child.");
  expect((await loop(replay.modelFor(second), second)).error).toMatchObject({
    what: "the runs that were started",
  });
});

test("malformed input of a tool is replayed as the model wrote it", async () => {
  const script: Script = [
    { answer: { toolCalls: [{ tool: "look", input: '{"at": tru' }] } },
    { answer: { text: "I will not try again." } },
  ];
  const run = place("run-now");
  const model = createReplay(await record(place("run-then"), script)).modelFor(run);
  const { error, text } = await loop(model, run);
  expect(error).toBeUndefined();
  expect(text).toBe("I will not try again.");
});

describe("from a file", () => {
  const request = (path: string, run: Run) =>
    resolveModel({
      config: { models: {}, skills: { settings: {} } as never },
      environment: {},
      asked: `replay:${path}`,
      run,
      runCommand: () => Promise.reject(new Error("no command is expected")),
    });

  test("a recording is read, half a line at its end forgiven, and nested runs go on with it", async () => {
    const file = join(temporaryFolder(), "recording.jsonl");
    for (const event of await record(place("run-then"))) appendFileSync(file, `${JSON.stringify(event)}\n`);
    for (const event of await record(place("child-then", "run-then")))
      appendFileSync(file, `${JSON.stringify(event)}\n`);
    appendFileSync(file, '{"v":1,"ty');
    const run = place("run-now");
    const outcome = await request(file, run);
    if (!outcome.ok) throw new Error(outcome.refusal.message);
    expect((await loop(outcome.value.model, run)).text).toBe("Both are there.");
    const child = place("child-now", "run-now");
    const nested = await resolveModel({
      config: { models: {}, skills: { settings: {} } as never },
      environment: {},
      skill: { name: "report", model: "fast" },
      caller: outcome.value,
      run: child,
      runCommand: () => Promise.reject(new Error("no command is expected")),
    });
    expect(nested.ok && (await loop(nested.value.model, child)).text).toBe("Both are there.");
  });

  test("what is not a recording is refused", async () => {
    const file = join(temporaryFolder(), "notes.txt");
    appendFileSync(file, "hello\nworld\n");
    expect(await request(file, place("run-now"))).toMatchObject({
      ok: false,
      refusal: { message: expect.stringContaining("is not a recording") },
    });
  });
});
