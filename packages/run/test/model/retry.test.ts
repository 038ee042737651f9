import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { ModelCutError } from "../../src/model/provider-fault.ts";
import { type Retry, type RetryOptions, retryModel } from "../../src/model/retry.ts";

type Part = LanguageModelV4StreamPart;

const CALL = { prompt: [] } as LanguageModelV4CallOptions;
const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const START: Part = { type: "stream-start", warnings: [] };
const TEXT: readonly Part[] = [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Hel" },
];
const FINISH: Part = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE };
const GOOD: readonly Part[] = [START, ...TEXT, { type: "text-end", id: "1" }, FINISH];

function httpFault(statusCode: number, responseHeaders: Readonly<Record<string, string>> = {}): Error {
  return Object.assign(new Error(`status ${statusCode}`), { statusCode, responseHeaders });
}

function networkFault(code: string): Error {
  return new Error("fetch failed", { cause: Object.assign(new Error(code), { code }) });
}

/** Each call takes the next of these: a fault of the call, or the parts of its stream, which may break. */
type Attempt = Error | readonly (Part | Error)[];

function fakeModel(attempts: readonly Attempt[]): LanguageModelV4 {
  const left = [...attempts];
  return {
    specificationVersion: "v4",
    provider: "fake",
    modelId: "fake",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not used")),
    async doStream() {
      const attempt = left.shift();
      if (attempt === undefined) throw new Error("asked too often");
      if (attempt instanceof Error) throw attempt;
      const parts = [...attempt];
      return {
        stream: new ReadableStream<Part>({
          pull(controller) {
            const part = parts.shift();
            if (part instanceof Error) controller.error(part);
            else if (part) controller.enqueue(part);
            else controller.close();
          },
        }),
      };
    },
  };
}

async function ask(attempts: readonly Attempt[], options: RetryOptions = {}) {
  const retries: Retry[] = [];
  const wait = async (): Promise<void> => undefined;
  const onRetry = (retry: Retry): void => void retries.push(retry);
  const model = retryModel(fakeModel(attempts), { wait, onRetry, ...options });
  const parts: Part[] = [];
  let error: unknown;
  try {
    const { stream } = await model.doStream(CALL);
    for await (const part of stream) parts.push(part);
  } catch (fault) {
    error = fault;
  }
  return { parts, retries, error };
}

describe("faults that may be gone in a moment", () => {
  test.each([
    ["429", httpFault(429)],
    ["500", httpFault(500)],
    ["529", httpFault(529)],
    ["a reset connection", networkFault("ECONNRESET")],
    ["a closed socket", networkFault("UND_ERR_SOCKET")],
    ["a stream that breaks before it says anything", [START, networkFault("UND_ERR_SOCKET")]],
    ["a stream that ends before it says anything", [START]],
    [
      "a stream whose first word is that the server is overloaded",
      [START, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
    ],
  ] as readonly (readonly [string, Attempt])[])("%s is asked again", async (_name, attempt) => {
    const { parts, retries, error } = await ask([attempt, GOOD]);
    expect(error).toBeUndefined();
    expect(parts).toEqual(GOOD);
    expect(retries).toEqual([{ attempt: 2, delayMs: 1000, reason: expect.stringMatching(/./) }]);
  });

  test("the provider says how long to wait; without a word each wait is twice the last", async () => {
    const { retries } = await ask([httpFault(429, { "retry-after": "7" }), httpFault(503), GOOD]);
    expect(retries).toEqual([
      { attempt: 2, delayMs: 7000, reason: "429: status 429" },
      { attempt: 3, delayMs: 2000, reason: "503: status 503" },
    ]);
  });

  test("three calls are made at most, and the last fault is the answer", async () => {
    const { error, retries } = await ask([httpFault(500), httpFault(502), httpFault(503), GOOD]);
    expect(error).toMatchObject({ statusCode: 503 });
    expect(retries).toHaveLength(2);
  });

  test("a provider that asks for more than a minute is not asked again", async () => {
    const { error, retries } = await ask([httpFault(429, { "retry-after": "61" }), GOOD]);
    expect(error).toMatchObject({ statusCode: 429 });
    expect(retries).toEqual([]);
  });
});

test.each([
  ["400", httpFault(400)],
  ["401", httpFault(401)],
  ["a refused connection", networkFault("ECONNREFUSED")],
  ["a fault of ours", new TypeError("x is not a function")],
] as const)("%s is not asked again", async (_name, fault) => {
  const { error, retries } = await ask([fault, GOOD]);
  expect(error).toBe(fault);
  expect(retries).toEqual([]);
});

test("cancelling ends the wait with the reason of the cancelling", async () => {
  const cancel = new AbortController();
  const model = retryModel(fakeModel([httpFault(429, { "retry-after": "50" }), GOOD]), {
    onRetry: () => cancel.abort(new Error("enough")),
  });
  await expect(model.doStream({ ...CALL, abortSignal: cancel.signal })).rejects.toThrow("enough");
});

describe("an answer that breaks after it began", () => {
  const OTHER: Part = { ...FINISH, finishReason: { unified: "other", raw: undefined } } as Part;

  test.each([
    ["by a fault", [START, ...TEXT, networkFault("ECONNRESET")]],
    ["by its end", [START, ...TEXT]],
    ["by a finish that the server did not send", [START, ...TEXT, OTHER]],
  ] as readonly (readonly [string, Attempt])[])("%s keeps what came and says so", async (_name, attempt) => {
    const { parts, retries, error } = await ask([attempt]);
    expect(error).toBeUndefined();
    expect(retries).toEqual([]);
    expect(parts.slice(0, 4)).toEqual([START, ...TEXT, { type: "text-end", id: "1" }]);
    expect(parts[4]).toEqual({ type: "error", error: expect.any(ModelCutError) });
    expect(parts[5]).toMatchObject({ type: "finish", finishReason: { unified: "interrupted" } });
    expect(parts).toHaveLength(6);
  });

  test("an error that the provider reports is not reported twice", async () => {
    const reported: Part = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const { parts } = await ask([[START, ...TEXT, reported]]);
    expect(parts.filter(({ type }) => type === "error")).toEqual([reported]);
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "interrupted" } });
  });
});
