/** Providers that number their calls anew with each answer. */
import { expect, test } from "vitest";
import { projectTurn } from "../../src/protocols/anthropic/project-turn.ts";
import type { SeenEvent } from "../../src/protocols/follow.ts";
import { openResponse, takeEvent } from "../../src/protocols/openai/project-response.ts";

const EVENTS = [1, 2].flatMap((step) =>
  [
    { type: "model-called", step },
    {
      type: "tool-called",
      step,
      callId: "call_0",
      tool: "list_files",
      input: { path: `${step}` },
      decision: "allow",
    },
    { type: "tool-finished", step, callId: "call_0", tool: "list_files", text: `result ${step}` },
  ].map(
    (event, index) =>
      ({ seq: 3 * step + index, at: "2026-01-01T00:00:00Z", ...event }) as unknown as SeenEvent,
  ),
);

test("each call keeps its own id and result in Anthropic's events", () => {
  const turn = projectTurn({ number: 1, run: "r", message: "go" });
  const events = EVENTS.flatMap((event) => turn.take(event));
  const uses = events.filter(({ type }) => type === "agent.tool_use").map(({ id }) => id);
  const results = events.filter(({ type }) => type === "agent.tool_result");
  expect(new Set(uses).size).toBe(2);
  expect(results.map((result) => result.tool_use_id)).toEqual(uses);
});

test("each call is an item of its own in OpenAI's responses", () => {
  const state = openResponse({ run: "r", part: 0 });
  for (const event of EVENTS) takeEvent(state, event);
  expect(new Set(state.output.map(({ id }) => id)).size).toBe(2);
  expect(state.output.map(({ output }) => output)).toEqual(["result 1", "result 2"]);
});
