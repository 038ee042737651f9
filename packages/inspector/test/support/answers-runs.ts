/** Runs as the API answers them, for tests of the views of runs: an ended one with everything in it, and longer ones. */
import type { Json, JsonObject } from "@metier/base/json";
import type { ApiRun, ApiRunEvent, ApiRunSummary } from "@metier/service/api";

const START = Date.parse("2026-11-16T09:00:00.000Z");

/** Events of one run, numbered and timed: each is told how many milliseconds it came after the one before. */
export function writeEvents(
  runId: string,
  list: readonly (readonly [afterMs: number, event: JsonObject & { readonly type: string }])[],
  start = START,
): readonly ApiRunEvent[] {
  let at = start;
  return list.map(([afterMs, event], index) => {
    at += afterMs;
    return { ...event, runId, seq: index + 1, at: new Date(at).toISOString() };
  });
}

export function usage(input: number, output: number): JsonObject {
  return { inputTokens: input, outputTokens: output, totalTokens: input + output };
}

export function text(words: string): Json {
  return { type: "text", text: words };
}

function call(callId: string, tool: string, input: Json): Json {
  return { type: "tool-call", callId, tool, input };
}

const QUESTION_ID = "q-1";
const HOUR_MS = 3_600_000;

export const CHILD_EVENTS: readonly ApiRunEvent[] = writeEvents(
  "child1",
  [
    [0, { type: "run-started", skill: "summarize-text", trust: "trusted", model: "claude-haiku" }],
    [20, { type: "model-called", step: 1 }],
    [
      1_400,
      {
        type: "model-answered",
        step: 1,
        parts: [text("Three sources agree: prices fell by 4 %.")],
        finishReason: "stop",
        usage: usage(2_100, 60),
        cost: 0.0009,
        durationMs: 1_400,
      },
    ],
    [10, { type: "run-finished", status: "completed", usage: usage(2_100, 60) }],
  ],
  START + 6_100 + HOUR_MS,
);

export const RUN_EVENTS: readonly ApiRunEvent[] = writeEvents("run1", [
  [0, { type: "run-started", skill: "research", trust: "trusted", model: "claude-sonnet", userId: "ada" }],
  [40, { type: "model-called", step: 1 }],
  [900, { type: "model-retried", step: 1, attempt: 2, delayMs: 500, reason: "429 Too many requests" }],
  [
    2_100,
    {
      type: "model-answered",
      step: 1,
      parts: [
        text("I look at the prices first.\n\nThen I compare."),
        call("c1", "bash", {
          command: "curl -H 'Authorization: [redacted:SHOP_TOKEN]' https://shop.example/prices",
        }),
      ],
      finishReason: "tool-calls",
      usage: usage(1_800, 120),
      cost: 0.0072,
      durationMs: 3_000,
    },
  ],
  [
    5,
    {
      type: "hook-finished",
      step: 1,
      hook: "PreToolUse",
      tool: "bash",
      callId: "c1",
      outcome: "allow",
      durationMs: 4,
    },
  ],
  [
    1,
    {
      type: "approval-asked",
      step: 1,
      callId: "c1",
      tool: "bash",
      questionId: QUESTION_ID,
      input: { command: "curl -H 'Authorization: [redacted:SHOP_TOKEN]' https://shop.example/prices" },
      rule: "tools.ask: Bash(curl *)",
    },
  ],
  [HOUR_MS, { type: "run-resumed", skill: "research", model: "claude-sonnet", activeMs: 3_050 }],
  [
    4,
    {
      type: "approval-answered",
      step: 1,
      callId: "c1",
      tool: "bash",
      questionId: QUESTION_ID,
      status: "approved",
      by: "grace",
    },
  ],
  [
    2,
    {
      type: "tool-called",
      step: 1,
      callId: "c1",
      tool: "bash",
      input: { command: "curl -H 'Authorization: [redacted:SHOP_TOKEN]' https://shop.example/prices" },
      decision: "approved",
      rule: "approved by grace",
    },
  ],
  [
    400,
    {
      type: "capability-called",
      step: 1,
      capability: "shop.prices",
      operation: "list",
      account: "work",
      mutating: false,
      outcome: "ok",
      requestId: "r1",
      durationMs: 210,
    },
  ],
  [
    600,
    {
      type: "tool-finished",
      step: 1,
      callId: "c1",
      tool: "bash",
      text: "apple 1.20\npear 2.10\ntoken [redacted:SHOP_TOKEN]",
      isError: false,
      durationMs: 1_000,
    },
  ],
  [10, { type: "model-called", step: 2 }],
  [
    1_500,
    {
      type: "model-answered",
      step: 2,
      parts: [
        text("Now a summary."),
        call("c2", "use_skill", { skill: "summarize-text" }),
        call("c3", "write_file", { path: "/etc/passwd", text: "x" }),
      ],
      finishReason: "tool-calls",
      usage: usage(2_400, 90),
      cost: 0.0085,
      durationMs: 1_500,
    },
  ],
  [
    2,
    {
      type: "tool-called",
      step: 2,
      callId: "c2",
      tool: "use_skill",
      input: { skill: "summarize-text" },
      decision: "allow",
      rule: "default: reads only",
    },
  ],
  [5, { type: "child-started", childRunId: "child1", skill: "summarize-text" }],
  [
    1,
    {
      type: "tool-called",
      step: 2,
      callId: "c3",
      tool: "write_file",
      input: { path: "/etc/passwd", text: "x" },
      decision: "deny",
      rule: "outside of the work folder",
    },
  ],
  [
    1,
    {
      type: "tool-finished",
      step: 2,
      callId: "c3",
      tool: "write_file",
      text: "Denied: outside of the work folder.",
      isError: true,
      durationMs: 0,
    },
  ],
  [
    1_500,
    {
      type: "tool-finished",
      step: 2,
      callId: "c2",
      tool: "use_skill",
      text: "Three sources agree.",
      isError: false,
      durationMs: 1_502,
    },
  ],
  [10, { type: "model-called", step: 3 }],
  [
    2_000,
    {
      type: "model-answered",
      step: 3,
      parts: [
        text(
          "## Prices\n\n- **Apple**: 1.20, down 4 %\n- **Pear**: 2.10\n\nThe token was `[redacted:SHOP_TOKEN]`.",
        ),
      ],
      finishReason: "stop",
      usage: usage(3_000, 210),
      cost: 0.0121,
      durationMs: 2_000,
    },
  ],
  [
    3,
    {
      type: "hook-finished",
      step: 3,
      hook: "Stop",
      outcome: "fault",
      reason: "The hook took longer than 5 s.",
      durationMs: 3,
    },
  ],
  [
    5,
    {
      type: "run-finished",
      status: "completed",
      text: "Prices fell.",
      usage: usage(7_200, 420),
      cost: 0.0287,
      durationMs: 7_200,
    },
  ],
]);

export const CHILD_RUN: ApiRunSummary = {
  id: "child1",
  status: "completed",
  skill: "summarize-text",
  parent: "run1",
  createdAt: CHILD_EVENTS[0]?.at ?? "",
  updatedAt: CHILD_EVENTS.at(-1)?.at ?? "",
  activeMs: 1_430,
  events: CHILD_EVENTS.length,
  usage: { inputTokens: 2_100, outputTokens: 60, totalTokens: 2_160 },
  cost: 0.0009,
};

export const RUN: ApiRun = {
  id: "run1",
  status: "completed",
  skill: "research",
  userId: "ada",
  agent: "buyer",
  model: "claude-sonnet",
  trust: "trusted",
  digest: "sha256:4f2a90c1d7e84b3f9d5b",
  createdAt: RUN_EVENTS[0]?.at ?? "",
  updatedAt: RUN_EVENTS.at(-1)?.at ?? "",
  activeMs: 9_120,
  events: RUN_EVENTS.length,
  usage: { inputTokens: 7_200, outputTokens: 420, totalTokens: 7_620 },
  cost: 0.0287,
  text: "## Prices\n\n- **Apple**: 1.20, down 4 %\n- **Pear**: 2.10\n\nThe token was `[redacted:SHOP_TOKEN]`, seen as [redacted:SHOP_TOKEN].",
  sandbox: {
    backend: "bubblewrap",
    declared: { network: ["*.shop.example", "news.example"], read: ["./data"], write: [] },
    granted: { network: ["*.shop.example"], read: ["./data"], write: ["./out"] },
    used: { network: ["api.shop.example:443"], read: [], write: [] },
  },
  diagnostics: [
    {
      code: "hook.failed",
      severity: "warning",
      message: "The hook `Stop` took longer than 5 s and was not asked.",
    },
  ],
  children: [CHILD_RUN],
};

/** A run that goes on: `count` steps with two tool calls each, the last one without an end. */
export function longRun(count: number): { readonly run: ApiRun; readonly events: readonly ApiRunEvent[] } {
  const id = `long${count}`;
  const list = Array.from({ length: count }, (_, index) => stepOf(index + 1)).flat();
  const events = writeEvents(
    id,
    [
      [0, { type: "run-started", skill: "refactor", trust: "untrusted", model: "gpt-5" }],
      ...list,
      [5, { type: "model-called", step: count + 1 }],
    ],
    Date.parse("2026-11-17T05:30:00.000Z"),
  );
  const { text: _, sandbox: __, children: ___, diagnostics: ____, ...rest } = RUN;
  const run = {
    ...rest,
    id,
    status: "running",
    skill: "refactor",
    createdAt: events[0]?.at ?? "",
    updatedAt: events.at(-1)?.at ?? "",
  } as const;
  return { run, events };
}

function stepOf(step: number): readonly (readonly [number, JsonObject & { readonly type: string }])[] {
  const tool = ["bash", "read_file", "edit_file"][step % 3] ?? "bash";
  const calls = [`a${step}`, `b${step}`];
  return [
    [5, { type: "model-called", step }],
    [
      400 + (step % 7) * 300,
      {
        type: "model-answered",
        step,
        parts: [
          text(`Step ${step} looks at one more file.`),
          ...calls.map((id) => call(id, tool, { path: `src/file-${step}.ts` })),
        ],
        finishReason: "tool-calls",
        usage: usage(900 + step * 30, 60),
        cost: 0.003,
        durationMs: 400,
      },
    ],
    ...calls.map(
      (callId) =>
        [
          2,
          {
            type: "tool-called",
            step,
            callId,
            tool,
            input: { path: `src/file-${step}.ts` },
            decision: "allow",
            rule: "default: reads only",
          },
        ] as const,
    ),
    ...calls.map(
      (callId) =>
        [
          150,
          {
            type: "tool-finished",
            step,
            callId,
            tool,
            text: "ok",
            isError: step % 17 === 0,
            durationMs: 150,
          },
        ] as const,
    ),
  ];
}
