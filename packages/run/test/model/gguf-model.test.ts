/** A model from a GGUF file, through a stand-in for node-llama-cpp with the same surface; `gguf-package.test.ts` has the real one. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { dynamicTool, isStepCount, jsonSchema, ToolLoopAgent } from "ai";
import { describe, expect, test, vi } from "vitest";
import { type GgufKind, ggufCases } from "../../../../test/support/gguf-cases.ts";
import { installLlama, type StandIn, writeGgufTurns } from "../../../../test/support/llama-stand-in.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { findGgufFiles } from "../../src/model/gguf/gguf-files.ts";
import { findGgufLibrary } from "../../src/model/gguf/gguf-library.ts";
import type { ModelRequest } from "../../src/model/model-request.ts";
import { resolveModel } from "../../src/model/resolve-model.ts";

const TURNS = {
  hello: [{ text: "Hello from a file." }],
  caller: [
    { call: { functionName: "look", params: { at: "it", deep: null } } },
    { text: "It is a stone.", thought: "A stone?" },
  ],
  endless: [{ endless: "Hello" }],
} as const;

function install(kind: GgufKind): {
  readonly path: string;
  readonly package: string;
  readonly llama: StandIn;
} {
  const root = temporaryFolder();
  const llama = installLlama(join(root, "node_modules"));
  return { path: writeGgufTurns(join(root, `${kind}.gguf`), TURNS[kind]), package: llama.folder, llama };
}

type Models = ModelRequest["config"]["models"];

function request(models: Models, more: Partial<ModelRequest> = {}): ModelRequest {
  return { config: { models, skills: { settings: {} } as never }, environment: {}, ...more };
}

async function open(table: Models[string], more: Partial<ModelRequest> = {}): Promise<LanguageModelV4> {
  const resolved = await resolveModel(request({ default: { provider: "gguf", ...table } }, more));
  if (!resolved.ok) throw new Error(`${resolved.refusal.message} ${resolved.refusal.hint}`);
  return resolved.value.model;
}

describe("a model from a GGUF file", () => {
  ggufCases(
    (kind) => {
      const { llama: _, ...place } = install(kind);
      return place;
    },
    (place) => open(place),
  );

  test("a call is executed, and its result is in the model's own turn of the history", async () => {
    const { llama, ...place } = install("caller");
    const agent = new ToolLoopAgent({
      model: await open(place),
      instructions: "Be brief.",
      tools: {
        look: dynamicTool({
          description: "Looks.",
          inputSchema: jsonSchema({
            type: "object",
            properties: { at: { type: "string" }, deep: { type: "boolean" } },
            required: ["at"],
          }),
          execute: async (input) => `saw ${JSON.stringify(input)}`,
        }),
      },
      stopWhen: isStepCount(4),
      maxRetries: 0,
    });
    const result = await agent.stream({ prompt: "Look at it." });
    expect(await result.text).toBe("It is a stone.");
    expect(await result.reasoningText).toBe("A stone?");
    const [first, second] = llama.requests();
    expect(first.functions).toEqual({
      look: {
        description: "Looks.",
        params: {
          type: "object",
          properties: { at: { type: "string" }, deep: { oneOf: [{ type: "boolean" }, { type: "null" }] } },
        },
      },
    });
    expect(second.history).toEqual([
      { type: "system", text: "Be brief." },
      { type: "user", text: "Look at it." },
      {
        type: "model",
        response: [
          {
            type: "functionCall",
            name: "look",
            params: { at: "it" },
            result: 'saw {"at":"it"}',
            startsNewChunk: true,
          },
        ],
      },
    ]);
  });

  test("`context-tokens` bounds the context; an answer never runs over its end", async () => {
    const { llama, ...place } = install("hello");
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi." }] }];
    await (await open({ ...place, contextTokens: 1_000 })).doGenerate({ prompt });
    expect(llama.requests()[0].maxTokens).toBeLessThan(1_000 - 64);
    const long = [{ role: "user" as const, content: [{ type: "text" as const, text: "x".repeat(950) }] }];
    await expect(
      (await open({ ...place, contextTokens: 1_000 })).doGenerate({ prompt: long }),
    ).rejects.toThrow("raise `context-tokens` (the model takes 16384)");
  });

  test("a file that cannot be loaded is told with what the package logged", async () => {
    const { llama } = install("hello");
    const path = writeGgufTurns(join(llama.folder, "..", "..", "broken.gguf"), "broken");
    const model = await open({ path, package: llama.folder });
    await expect(model.doGenerate({ prompt: [] })).rejects.toThrow(
      /cannot load .*broken\.gguf: Failed to load model llama_model_load: tensor 'output'/,
    );
  });

  test("a file that could not be loaded is not released later", async () => {
    const { llama } = install("hello");
    const path = writeGgufTurns(join(llama.folder, "..", "..", "broken.gguf"), "broken");
    const model = await open({ path, package: llama.folder });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      await expect(model.doGenerate({ prompt: [] })).rejects.toThrow("cannot load");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a request for JSON is held to it by a grammar", async () => {
    const { llama, ...place } = install("hello");
    const schema = { type: "object" as const, properties: { a: { $ref: "#/x" } }, required: ["a"] };
    await (await open(place)).doGenerate({ prompt: [], responseFormat: { type: "json", schema } });
    expect(llama.requests()[0].grammar.schema.properties.a.oneOf).toHaveLength(6);
  });
});

describe("how a GGUF file is named", () => {
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi." }] }];

  test("by `gguf:` and a path, a bare path, or a name in the usual folders; the table's package is used", async () => {
    const { llama, path } = install("hello");
    const home = temporaryFolder();
    writeGgufTurns(join(home, "models", "Qwen3-8B.gguf"), [{ text: "By name." }]);
    const models: Models = { other: { provider: "gguf", path: "/gone.gguf", package: llama.folder } };
    const say = async (asked: string): Promise<readonly unknown[]> => {
      const resolved = await resolveModel(request(models, { asked, home, cwd: dirname(path) }));
      if (!resolved.ok) return [resolved.refusal.message];
      const { content } = await resolved.value.model.doGenerate({ prompt });
      return [resolved.value.id, ...content.flatMap((part) => (part.type === "text" ? [part.text] : []))];
    };
    expect(await say(`gguf:${path}`)).toEqual(["gguf/hello", "Hello from a file."]);
    expect(await say("./hello.gguf")).toEqual(["gguf/hello", "Hello from a file."]);
    expect(await say("gguf:~/models/Qwen3-8B.gguf")).toEqual(["gguf/Qwen3-8B", "By name."]);
    expect(await say("gguf/qwen3-8b")).toEqual(["gguf/qwen3-8b", "By name."]);
    expect(await say("gguf:qwen3-9b")).toEqual(["No GGUF file called `qwen3-9b` is in the usual folders."]);
    expect(await say("gguf:./no.gguf")).toEqual([
      `\`${join(dirname(path), "no.gguf")}\` is not the absolute path of a readable GGUF file.`,
    ]);
  });

  test("a skill's manifest cannot make Metier load one", async () => {
    const { path } = install("hello");
    const resolved = await resolveModel(
      request(
        { default: { provider: "ollama", model: "own" } },
        { skill: { name: "x", model: `gguf:${path}` } },
      ),
    );
    expect(resolved).toMatchObject({
      ok: true,
      value: { id: "ollama/own", diagnostics: [{ code: "model.unknown" }] },
    });
  });

  test("it is lean and free, and its name follows from its path", async () => {
    const { llama, path } = install("hello");
    const models: Models = { default: { provider: "gguf", path, package: llama.folder } };
    expect(await resolveModel(request(models))).toMatchObject({
      ok: true,
      value: { id: "gguf/hello", lean: true, isFree: true, secrets: [] },
    });
  });
});

describe("the package", () => {
  test("without it, the refusal says how to install it", async () => {
    const { path } = install("hello");
    const resolved = await resolveModel(request({ default: { provider: "gguf", path } }));
    expect(resolved).toMatchObject({
      ok: false,
      refusal: {
        message: expect.stringContaining("`node-llama-cpp`, which is not installed next to Metier"),
        hint: expect.stringContaining("npm install -g node-llama-cpp"),
      },
    });
  });

  test("is found beside Metier: in the `node_modules` that Metier is in, and nowhere else", () => {
    const root = temporaryFolder();
    const modules = join(root, "lib", "node_modules");
    const own = join(modules, "metier", "dist", "chunk.js");
    installLlama(join(root, "node_modules"));
    installLlama(join(root, "lib", "project", "node_modules"));
    expect(findGgufLibrary(undefined, own)).toMatchObject({ ok: false });
    const { folder } = installLlama(modules);
    expect(findGgufLibrary(undefined, own)).toMatchObject({ ok: true, value: { folder, version: "3.22.1" } });
  });

  test("another version, another package and an entry outside of its folder are refused", () => {
    const root = temporaryFolder();
    const old = installLlama(join(root, "old"), "2.8.16");
    expect(findGgufLibrary(old.folder)).toMatchObject({
      refusal: { message: expect.stringContaining("has version 2.8.16 of `node-llama-cpp`; Metier needs") },
    });
    const other = installLlama(join(root, "other"));
    const write = (manifest: object): void =>
      writeFileSync(join(other.folder, "package.json"), JSON.stringify(manifest));
    write({ name: "something", version: "3.0.0" });
    expect(findGgufLibrary(other.folder).ok).toBe(false);
    write({ name: "node-llama-cpp", version: "3.0.0", main: "../../../evil.js" });
    expect(findGgufLibrary(other.folder).ok).toBe(false);
    expect(findGgufLibrary("relative/node-llama-cpp").ok).toBe(false);
  });
});

describe("looking for GGUF files", () => {
  test("in the places people keep them; only the magic bytes count, links once, parts and eyes not at all", () => {
    const home = temporaryFolder();
    const cache = temporaryFolder();
    const turns = [{ text: "x" }];
    writeGgufTurns(join(home, "models", "one.gguf"), turns);
    writeGgufTurns(join(home, ".lmstudio", "models", "org", "two", "two-q4.gguf"), turns);
    const hub = join(home, ".cache", "huggingface", "hub", "models--org--three");
    const blob = writeGgufTurns(join(hub, "blobs", "abc"), turns);
    mkdirSync(join(hub, "snapshots", "rev"), { recursive: true });
    symlinkSync(blob, join(hub, "snapshots", "rev", "three.gguf"));
    symlinkSync(blob, join(home, "models", "three-again.gguf"));
    writeGgufTurns(join(cache, "four-00001-of-00002.gguf"), turns);
    writeGgufTurns(join(cache, "four-00002-of-00002.gguf"), turns);
    writeGgufTurns(join(cache, "mmproj-four.gguf"), turns);
    writeFileSync(join(cache, "page.gguf"), "<html>not found</html>");
    mkdirSync(join(cache, "folder.gguf"));
    const found = findGgufFiles({ environment: { LLAMA_CACHE: cache }, home });
    expect(found.map(({ name }) => name).toSorted()).toEqual(["four", "one", "three-again", "two-q4"]);
    const given = join(cache, "four-00001-of-00002.gguf");
    expect(findGgufFiles({ environment: {}, home, given })).toMatchObject([{ name: "four", path: given }]);
  });

  test("is bounded, and leaves out what the project brought along", () => {
    const home = temporaryFolder();
    for (let index = 0; index < 60; index += 1) {
      writeGgufTurns(join(home, "models", `m${index}.gguf`), [{ text: "x" }]);
    }
    writeGgufTurns(join(home, "models", "a", "b", "c", "d", "e", "deep.gguf"), [{ text: "x" }]);
    expect(findGgufFiles({ environment: {}, home })).toHaveLength(50);
    expect(findGgufFiles({ environment: {}, home, project: join(home, "models") })).toEqual([]);
  });
});
