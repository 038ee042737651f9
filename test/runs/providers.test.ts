/** Whole runs over real HTTP on loopback, in the three wire formats, against a provider that nobody here wrote. */
import type { Fixture } from "@copilotkit/aimock";
import { answer, type RunRequest, type RunResult } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import { describe, expect, test } from "vitest";
import { FORMATS, type Format, PROVIDER_KEY, startProvider, type TestProvider } from "../support/aimock.ts";
import { anthropicCall, anthropicMessage, anthropicText, startRawProvider } from "../support/provider.ts";
import { createRunWorld, eventsOf, programTool } from "../support/scripted-runs.ts";

const look = programTool("look", async ({ at }) => answer(`saw ${String(at)}`));

interface Outcome {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
}

async function runWith(config: string, request: Partial<RunRequest> = {}): Promise<Outcome> {
  const world = createRunWorld({ looker: ["", "Look at it."] });
  world.write({ "home/.metier/config.toml": config });
  const metier = await world.metier({ tools: [look] });
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent): void => {
    events.push(event);
    request.onEvent?.(event);
  };
  const result = await metier.run({ skill: "looker", message: "Look.", ...request, onEvent });
  expect(JSON.stringify([result, events])).not.toContain(PROVIDER_KEY);
  return { result, events };
}

async function runOver(
  format: Format,
  fixtures: readonly Fixture[],
  request: Partial<RunRequest> = {},
): Promise<Outcome & { readonly provider: TestProvider }> {
  const provider = await startProvider(fixtures);
  return { ...(await runWith(provider.toml(format), request)), provider };
}

const CALL = { match: {}, response: { toolCalls: [{ name: "look", arguments: '{"at":"it"}' }] } };

describe.each(FORMATS)("%s", (format) => {
  test("text is streamed and its tokens are counted", async () => {
    const content = "It is a small grey stone.";
    const { result, events, provider } = await runOver(format, [
      { match: {}, response: { content, usage: { input_tokens: 7, output_tokens: 5 } }, chunkSize: 5 },
    ]);
    expect(result).toMatchObject({ status: "completed", text: content, iterations: 1 });
    expect(result.model).toBe(`${provider.config(format).provider}/${provider.config(format).model}`);
    const deltas = eventsOf(events, "text-delta");
    expect(deltas.length).toBeGreaterThan(2);
    expect(deltas.map(({ text }) => text).join("")).toBe(content);
    expect(result.usage.totalTokens).toBeGreaterThan(0);
    expect(JSON.stringify(provider.requests()[0]?.body)).toContain("Look at it.");
  });

  test("a tool loop goes round until the model answers", async () => {
    const { result, provider } = await runOver(format, [
      { match: { hasToolResult: true }, response: { content: "It is a stone." } },
      CALL,
    ]);
    expect(result).toMatchObject({ status: "completed", text: "It is a stone.", iterations: 2 });
    expect(JSON.stringify(provider.requests()[1]?.body)).toContain("saw it");
  });

  test("the iteration limit ends a loop that would go on for ever", async () => {
    const { result, provider } = await runOver(format, [CALL], { limits: { maxIterations: 3 } });
    expect(result).toMatchObject({ status: "limited", limit: "iterations", iterations: 3 });
    expect(provider.requests()).toHaveLength(3);
  });

  test("cancelling ends the answer at once, with the text so far", async () => {
    const cancel = new AbortController();
    const { result } = await runOver(
      format,
      [{ match: {}, response: { content: "word ".repeat(2000) }, chunkSize: 5, latency: 20 }],
      {
        signal: cancel.signal,
        onEvent: ({ type }) => {
          if (type === "text-delta") cancel.abort();
        },
      },
    );
    expect(result.status).toBe("cancelled");
    expect(result.text).toMatch(/^word/);
    expect(result.text.length).toBeLessThan(1000);
  });

  test("429 is waited for as the provider says, told, and asked again", async () => {
    const { result, events, provider } = await runOver(format, [
      {
        match: { sequenceIndex: 0 },
        response: { error: { message: "slow down" }, status: 429, retryAfter: 1 },
      },
      { match: {}, response: { content: "Here." } },
    ]);
    expect(result).toMatchObject({ status: "completed", text: "Here.", iterations: 1 });
    expect(eventsOf(events, "model-retried")).toMatchObject([{ step: 1, attempt: 2, delayMs: 1000 }]);
    expect(provider.requests()).toHaveLength(2);
  });

  test("a wait for the provider ends when the run is cancelled", async () => {
    const cancel = new AbortController();
    const { result, provider } = await runOver(
      format,
      [{ match: {}, response: { error: { message: "slow down" }, status: 429, retryAfter: 50 } }],
      {
        signal: cancel.signal,
        onEvent: ({ type }) => {
          if (type === "model-retried") setImmediate(() => cancel.abort());
        },
      },
    );
    expect(result).toMatchObject({ status: "cancelled", text: "" });
    expect(provider.requests()).toHaveLength(1);
  });

  test("a stream that is cut in the middle fails the run with the text so far", async () => {
    const content = "It is a small grey stone by the side of the road.";
    const { result } = await runOver(format, [
      { match: {}, response: { content }, chunkSize: 5, latency: 5, truncateAfterChunks: 8 },
    ]);
    expect(result).toMatchObject({ status: "failed", error: { code: "model.cut" } });
    expect(result.text.length).toBeGreaterThan(0);
    expect(content.startsWith(result.text)).toBe(true);
  });

  test("a refused key fails the run with the provider's own words", async () => {
    const { result } = await runOver(format, [
      { match: {}, response: { error: { message: `bad key ${PROVIDER_KEY}` }, status: 401 } },
    ]);
    expect(result).toMatchObject({ status: "failed", error: { code: "model.http" } });
    expect(result.error?.message).toMatch(/401.*bad key/);
  });

  // aimock parses the input for Anthropic's format itself, so there it is sent by hand.
  test("malformed tool arguments are an error result, and the loop goes on", async () => {
    const malformed = '{"at": tru';
    const { result, events } =
      format === "anthropic"
        ? await runWith(
            rawToml(
              await startRawProvider(
                anthropicMessage("tool_use", ...anthropicCall("look", malformed)),
                anthropicMessage("end_turn", ...anthropicText("I see.")),
              ),
            ),
          )
        : await runOver(format, [
            { match: { hasToolResult: true }, response: { content: "I see." } },
            { match: {}, response: { toolCalls: [{ name: "look", arguments: malformed }] } },
          ]);
    expect(result).toMatchObject({ status: "completed", text: "I see.", iterations: 2 });
    expect(eventsOf(events, "tool-finished")).toMatchObject([{ tool: "look", isError: true }]);
  });
});

function rawToml({ url }: { readonly url: string }): string {
  return [
    '[models.default]\nprovider = "anthropic"\nmodel = "m"',
    `base-url = "${url}/v1"\napi-key = "${PROVIDER_KEY}"\n`,
  ].join("\n");
}
