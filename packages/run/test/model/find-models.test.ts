/** What is found on a machine: real servers on loopback, real files on PATH. */
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startOllama } from "../../../../test/support/ollama.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { findModels, type ModelSearch } from "../../src/model/find-models.ts";
import { listServerPlaces, type ServerPlace } from "../../src/model/local-servers.ts";
import { listModelOffers } from "../../src/model/offer-models.ts";

const NOWHERE: Pick<ModelSearch, "project" | "home" | "places"> = {
  project: "/nowhere",
  home: "/home/nobody",
  places: [],
};

async function serve(answer: (url: string) => string | undefined): Promise<string> {
  const server = createServer((request, response) => {
    const body = answer(request.url ?? "");
    if (body !== undefined) response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const openAi = (address: string, name = "llama.cpp"): ServerPlace => ({ name, address, speaks: "openai" });

describe("servers", () => {
  test("[U3] Ollama's models come with their context; those that call tools first, embeddings not at all", async () => {
    const ollama = await startOllama([
      { name: "tiny", tools: false, size: 9 },
      { name: "qwen3:8b", context: 40_960, size: 5 },
      { name: "nomic-embed-text", tools: false },
    ]);
    const places: readonly ServerPlace[] = [{ name: "Ollama", address: ollama.url, speaks: "ollama" }];
    const found = await findModels({ ...NOWHERE, environment: {}, places });
    expect(found.servers).toMatchObject([
      {
        name: "Ollama",
        models: [
          { name: "qwen3:8b", contextTokens: 40_960, tools: true },
          { name: "tiny", tools: false },
        ],
      },
    ]);
    expect(listModelOffers(found)).toMatchObject([
      { id: "ollama/qwen3:8b", table: { provider: "ollama", model: "qwen3:8b", "base-url": ollama.url } },
      { id: "ollama/tiny", found: expect.stringContaining("cannot call tools") },
    ]);
  });

  test("servers that speak OpenAI's protocol are found by `/v1/models`", async () => {
    const url = await serve(() =>
      JSON.stringify({ object: "list", data: [{ id: "gemma", max_model_len: 8192 }] }),
    );
    const found = await findModels({ ...NOWHERE, environment: {}, places: [openAi(url)] });
    expect(listModelOffers(found)).toMatchObject([
      {
        label: "llama.cpp gemma",
        table: { provider: "openai-compatible", "base-url": `${url}/v1`, lean: true },
      },
    ]);
  });

  test("what is silent, answers something else, too much or from elsewhere is no model server", async () => {
    const places = [
      openAi(await serve(() => undefined)),
      openAi(await serve(() => "<html>A page.</html>")),
      openAi(await serve(() => '{"data": "no"}')),
      openAi(await serve(() => JSON.stringify({ data: [{ id: "x".repeat(5_000_000) }] }))),
      openAi("http://192.0.2.1:8080"),
      openAi("http://127.0.0.1:1"),
    ];
    const { servers } = await findModels({ ...NOWHERE, environment: {}, places, timeoutMs: 300 });
    expect(servers).toEqual([]);
  });

  test.each([
    [undefined, "http://127.0.0.1:11434"],
    ["127.0.0.1:5000", "http://127.0.0.1:5000"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["http://localhost:80", "http://localhost:80"],
    ["gpu.example.com:11434", "http://127.0.0.1:11434"],
  ])("`OLLAMA_HOST` %s leads to %s", (written, address) => {
    expect(listServerPlaces({ OLLAMA_HOST: written })[0]).toMatchObject({ name: "Ollama", address });
  });
});

test("keys are found by their variables, and their values appear nowhere", async () => {
  const environment = {
    OPENAI_API_KEY: "sk-very-secret-value",
    ANTHROPIC_API_KEY: "",
    GEMINI_API_KEY: "g-secret-value",
  };
  const found = await findModels({ ...NOWHERE, environment });
  expect(found.keys.map(({ variable }) => variable)).toEqual(["OPENAI_API_KEY", "GEMINI_API_KEY"]);
  expect(JSON.stringify([found, listModelOffers(found)])).not.toContain("secret");
});

describe("programs", () => {
  function install(folder: string, name: string): string {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\ntouch "$(dirname "$0")/started"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  test("those of the user are found and not started; those inside the project, or that lead there, are not the user's", async () => {
    const root = temporaryFolder();
    const project = join(root, "home", "work");
    const bin = join(root, "bin");
    const inside = join(project, "node_modules", ".bin");
    install(inside, "claude");
    const codex = install(inside, "codex");
    const claude = install(bin, "claude");
    symlinkSync(codex, join(bin, "codex"));
    const search = { ...NOWHERE, project, home: join(root, "home") };
    const found = await findModels({ ...search, environment: { PATH: `${inside}:bin:${bin}` } });
    expect(found.programs).toEqual([{ name: "claude", path: claude }]);
    expect(existsSync(join(bin, "started"))).toBe(false);
  });

  test("in the home folder itself, the user's own programs are found", async () => {
    const home = temporaryFolder();
    const claude = install(join(home, ".local", "bin"), "claude");
    const environment = { PATH: join(home, ".local", "bin") };
    const found = await findModels({ ...NOWHERE, project: home, home, environment });
    expect(found.programs).toEqual([{ name: "claude", path: claude }]);
  });
});
