/** Models for somebody who is not the owner of the machine: their providers, and nothing that was not given to them. */
import type { Config, ModelConfig } from "@metier/skills/config";
import { describe, expect, test } from "vitest";
import type { ModelRequest, OwnModels, OwnProvider } from "../../src/model/model-request.ts";
import { resolveModel } from "../../src/model/resolve-model.ts";
import { createScriptModel } from "../../src/model/scripted-model.ts";

const ACME: OwnProvider = {
  name: "acme",
  kind: "openai-compatible",
  baseUrl: "https://models.acme.example/v1",
  key: { name: "ACME_KEY", value: "sk-acme", isStored: true },
  models: ["small", "large"],
  fetch: () => Promise.reject(new Error("not asked")),
};
const CLAUDE: OwnProvider = {
  ...ACME,
  name: "claude",
  kind: "anthropic",
  baseUrl: undefined,
  models: undefined,
};

/** A machine with models and keys of its own. */
const HOME: Readonly<Record<string, ModelConfig>> = {
  default: { provider: "anthropic", model: "claude-of-home", apiKey: "sk-home" },
  shelf: { provider: "scripted", model: "/srv/script.json" },
};

function request(own: OwnModels, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    config: { models: HOME, skills: { settings: {} } as unknown as Config["skills"] },
    environment: { OPENAI_API_KEY: "sk-environment", ANTHROPIC_BASE_URL: "http://127.0.0.1:1/" },
    given: { given: createScriptModel([]) },
    own,
    ...more,
  };
}

async function idOf(own: OwnModels, more: Partial<ModelRequest> = {}): Promise<string> {
  const outcome = await resolveModel(request(own, more));
  if (!outcome.ok) return outcome.refusal.message;
  const { id, secrets } = outcome.value;
  return [id, ...secrets.map(({ value }) => value)].join(" ");
}

describe("with nothing of the machine", () => {
  const own: OwnModels = { providers: [ACME, CLAUDE], home: "none", hint: "Ask your admin." };

  test("models are named by provider, and the first provider is the default", async () => {
    expect(await idOf(own, { asked: "acme/large" })).toBe("acme/large sk-acme");
    expect(await idOf(own, { asked: "acme" })).toBe("acme/small sk-acme");
    expect(await idOf(own)).toBe("acme/small sk-acme");
    expect(await idOf(own, { skill: { name: "x", model: "claude/claude-x" } })).toBe(
      "claude/claude-x sk-acme",
    );
  });

  test("a name that says a kind is taken from the provider of that kind", async () => {
    expect(await idOf(own, { asked: "sonnet" })).toBe("claude/claude-sonnet-5-5 sk-acme");
    expect(await idOf(own, { asked: "anthropic/claude-y" })).toBe("claude/claude-y sk-acme");
    expect(await idOf(own, { skill: { name: "x", model: "claude-z" } })).toBe("claude/claude-z sk-acme");
  });

  test.each([
    "shelf",
    "given",
    "openai/gpt-6-astra",
    "gpt",
    "ollama/llama",
    "gguf/model",
    "/srv/model.gguf",
    "replay:/etc/passwd",
    "scripted:/etc/passwd",
    "claude-program/default",
    "acme/other",
  ])("%s is refused, with what to do", async (asked) => {
    const outcome = await resolveModel(request(own, { asked }));
    expect(outcome).toMatchObject({ ok: false, refusal: { hint: "Ask your admin." } });
  });

  test("a skill that names a model nobody has gets the default one", async () => {
    expect(await idOf(own, { skill: { name: "x", model: "gpt" } })).toBe("acme/small sk-acme");
  });

  test("without a provider there is no model at all, whatever the machine has", async () => {
    const none: OwnModels = { ...own, providers: [] };
    expect(await idOf(none)).toContain("no model provider");
    expect(await idOf(none, { asked: "anthropic/claude-x" })).toContain("no model provider");
  });

  test("a model that a program gives is not theirs", async () => {
    const given = createScriptModel([]);
    expect(await idOf(own, { asked: given })).toContain("None of your providers");
  });
});

describe("with the machine's models beside their own", () => {
  const own: OwnModels = { providers: [ACME], home: "configured", hint: "Ask your admin." };

  test("what the machine has is taken first, and their own by name", async () => {
    expect(await idOf(own)).toBe("anthropic/claude-of-home sk-home");
    expect(await idOf(own, { asked: "gpt" })).toBe("openai/gpt-6-astra sk-environment");
    expect(await idOf(own, { asked: "acme/small" })).toBe("acme/small sk-acme");
  });

  test("files and servers of the machine are not theirs to name", async () => {
    for (const asked of ["replay:/etc/passwd", "scripted:/etc/passwd", "ollama/llama", "gguf/model"]) {
      expect(await idOf(own, { asked })).toContain("You cannot use files or servers");
    }
  });

  test("a provider named like one of the machine's tables is their own", async () => {
    const shelf: OwnModels = { ...own, providers: [{ ...ACME, name: "shelf" }] };
    expect(await idOf(shelf, { asked: "shelf/small" })).toBe("shelf/small sk-acme");
  });
});
