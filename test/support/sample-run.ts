/** A small run as events, for tests of everything that reads them. */
import type { RunSink } from "@metier/run/events";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "@metier/run/events";

export const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

export const STARTED: Extract<RunEventBody, { type: "run-started" }> = {
  type: "run-started",
  skill: "research",
  source: "user",
  location: "/skills/research/SKILL.md",
  trust: "trusted",
  model: "scripted/test",
  depth: 0,
  tools: ["bash"],
  workDir: "/runs/x/work",
  cwd: "/project",
  env: ["API_KEY"],
};

export const FINISHED: Extract<RunEventBody, { type: "run-finished" }> = {
  type: "run-finished",
  status: "completed",
  text: "All done.",
  iterations: 2,
  usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
  durationMs: 1500,
};

/** Two steps: a tool call that works, then the answer. */
export const SAMPLE_RUN: readonly RunEventBody[] = [
  STARTED,
  {
    type: "model-called",
    step: 1,
    system: "You run a skill.",
    messages: [{ role: "user", parts: [{ type: "text", text: "Go." }] }],
  },
  { type: "text-delta", step: 1, text: "Let me " },
  { type: "text-delta", step: 1, text: "look." },
  {
    type: "model-answered",
    step: 1,
    parts: [
      { type: "text", text: "Let me look." },
      { type: "tool-call", callId: "c1", tool: "bash", input: { command: "ls" } },
    ],
    finishReason: "tool-calls",
    usage: USAGE,
    durationMs: 400,
  },
  {
    type: "tool-called",
    step: 1,
    callId: "c1",
    tool: "bash",
    input: { command: "ls" },
    decision: "allow",
    rule: "config",
  },
  {
    type: "tool-finished",
    step: 1,
    callId: "c1",
    tool: "bash",
    text: "a\nb",
    isError: false,
    durationMs: 20,
  },
  {
    type: "model-called",
    step: 2,
    messages: [
      {
        role: "tool",
        parts: [{ type: "tool-result", callId: "c1", tool: "bash", text: "a\nb", isError: false }],
      },
    ],
  },
  {
    type: "model-answered",
    step: 2,
    parts: [{ type: "text", text: "All done." }],
    finishReason: "stop",
    usage: USAGE,
    durationMs: 300,
  },
  FINISHED,
];

/** As they stand in a log, one second apart. */
export function stamped(bodies: readonly RunEventBody[], runId = "mf3k2a00-00000a"): readonly RunEvent[] {
  return bodies.map((body, index) => ({
    v: EVENT_VERSION,
    runId,
    seq: index + 1,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
    ...body,
  }));
}

export function lines(events: readonly unknown[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

/** Keeps what it is given. */
export function collect(name = "listener"): RunSink & { readonly events: RunEvent[]; closed: boolean } {
  const events: RunEvent[] = [];
  return {
    name,
    hearsText: true,
    events,
    closed: false,
    write: (event) => void events.push(event),
    close() {
      this.closed = true;
    },
  };
}
