/** What holds for a model from a GGUF file, with the real node-llama-cpp and with its stand-in alike. */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createMetier } from "@metier/runtime";
import { expect, test } from "vitest";
import { createWorld, skill } from "./world.ts";

/** Says "Hello from a file."; calls a tool with `at: "it"`; says "Hello" without end. */
export type GgufKind = "hello" | "caller" | "endless";

export interface GgufPlace {
  readonly path: string;
  /** The folder of the package. */
  readonly package: string;
}

export function ggufCases(
  install: (kind: GgufKind) => GgufPlace,
  open: (place: GgufPlace) => Promise<LanguageModelV4>,
): void {
  const model = (kind: GgufKind): Promise<LanguageModelV4> => open(install(kind));
  const PROMPT: Parameters<LanguageModelV4["doStream"]>[0]["prompt"] = [
    { role: "user", content: [{ type: "text", text: "Hi." }] },
  ];

  test("text is streamed, and tokens are counted", async () => {
    const parts = await collect((await (await model("hello")).doStream({ prompt: PROMPT })).stream);
    const text = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
    expect(text.join("")).toBe("Hello from a file.");
    expect(text.length).toBeGreaterThan(2);
    const finish = parts.at(-1);
    expect(finish).toMatchObject({ type: "finish", finishReason: { unified: "stop" } });
    if (finish?.type !== "finish") throw new Error("no end");
    expect(finish.usage.inputTokens.total).toBeGreaterThan(5);
    expect(finish.usage.outputTokens.total).toBeGreaterThan(3);
  });

  test("a call has what the schema wants; the optional part that was left out is not in it", async () => {
    const { content, finishReason } = await (await model("caller")).doGenerate({
      prompt: PROMPT,
      tools: [
        {
          type: "function",
          name: "look",
          description: "Looks.",
          inputSchema: {
            type: "object",
            properties: { at: { type: "string" }, deep: { type: "boolean" } },
            required: ["at"],
          },
        },
      ],
    });
    expect(content).toMatchObject([{ type: "tool-call", toolName: "look", input: '{"at":"it"}' }]);
    expect(finishReason.unified).toBe("tool-calls");
  });

  test("it ends at `maxOutputTokens`, and stops when it is cancelled", async () => {
    const endless = await model("endless");
    const cut = await endless.doGenerate({ prompt: PROMPT, maxOutputTokens: 7 });
    expect(cut).toMatchObject({
      content: [{ type: "text", text: "Hello".repeat(7) }],
      finishReason: { unified: "length" },
    });
    const stop = new AbortController();
    const { stream } = await endless.doStream({ prompt: PROMPT, abortSignal: stop.signal });
    let parts = 0;
    const reading = (async () => {
      for await (const _ of stream) {
        parts += 1;
        if (parts === 5) stop.abort(new Error("enough"));
      }
    })();
    await expect(reading).rejects.toThrow("enough");
    const again = await endless.doGenerate({ prompt: PROMPT, maxOutputTokens: 1 });
    expect(again.content).toMatchObject([{ text: "Hello" }]);
  });

  test("a reader that goes away stops it; two who ask at once are answered one after the other", async () => {
    const endless = await model("endless");
    const { stream } = await endless.doStream({ prompt: PROMPT });
    await stream.cancel();
    const both = await Promise.all(
      [1, 2].map(() => endless.doGenerate({ prompt: PROMPT, maxOutputTokens: 3 })),
    );
    expect(both.map(({ content }) => content)).toMatchObject([
      [{ text: "HelloHelloHello" }],
      [{ text: "HelloHelloHello" }],
    ]);
  });

  test("a conversation that does not fit is a fault with both numbers; nothing of it is dropped", async () => {
    const long = [
      { role: "user" as const, content: [{ type: "text" as const, text: "word ".repeat(4_000) }] },
    ];
    await expect((await model("hello")).doGenerate({ prompt: long })).rejects.toThrow(
      /The request has \d{4,} tokens, but the context only has \d+: use a model with a larger context/,
    );
  });

  test("a skill is run with it, from the config alone", async () => {
    const world = createWorld();
    world.write({ "home/.metier/skills/greet/SKILL.md": skill("greet") });
    const place = install("hello");
    const metier = await createMetier({
      cwd: world.project,
      home: world.home,
      environment: {},
      config: { models: { default: { provider: "gguf", ...place } } },
    });
    const result = await metier.run({ skill: "greet", message: "Hi." });
    expect(result).toMatchObject({ status: "completed", text: "Hello from a file." });
    expect(result.usage.totalTokens).toBeGreaterThan(10);
  });
}

async function collect(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<readonly LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
