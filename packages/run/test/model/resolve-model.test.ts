import { onCommandLine } from "@metier/base/text";
import type { Config, ModelConfig } from "@metier/skills/config";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { BUILT_IN_ALIASES } from "../../src/model/model-aliases.ts";
import type { ModelRefusal, ModelRequest, ResolvedModel } from "../../src/model/model-request.ts";
import { resolveModel } from "../../src/model/resolve-model.ts";
import { createScriptModel } from "../../src/model/scripted-model.ts";

const DEFAULT: ModelConfig = { provider: "anthropic", model: "claude-default", apiKeyEnv: "MY_KEY" };
const FAST: ModelConfig = { provider: "openai", model: "gpt-fast", apiKey: "key-of-fast" };

type Change = Partial<Omit<ModelRequest, "config">> & {
  readonly models?: Readonly<Record<string, ModelConfig>>;
  /** `[skills.x].model` */
  readonly configured?: string;
};

function request({ models = { default: DEFAULT, fast: FAST }, configured, ...rest }: Change): ModelRequest {
  const settings = configured === undefined ? {} : { x: { env: {}, model: configured } };
  return {
    config: { models, skills: { settings } as unknown as Config["skills"] },
    environment: { MY_KEY: "key-of-default" },
    runCommand: () => Promise.reject(new Error("no command is expected")),
    ...rest,
  };
}

async function resolved(change: Change): Promise<ResolvedModel> {
  const outcome = await resolveModel(request(change));
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return outcome.value;
}

async function refused(change: Change): Promise<ModelRefusal> {
  const outcome = await resolveModel(request(change));
  if (outcome.ok) throw new Error(`resolved to ${outcome.value.id}`);
  return outcome.refusal;
}

const BUILT_IN =
  "Built in: `opus`, `sonnet`, `haiku`, `gpt`, `gemini`, `fast`, `smart`. Or write `provider/model`.";

describe("which model wins", () => {
  const skill = { name: "x", model: "claude-of-skill" };

  verifies(
    [158, "case 75"],
    "the call beats the config, the config the skill, the skill the default",
    async () => {
      expect((await resolved({ skill, configured: "fast", asked: "openai/gpt-asked" })).id).toBe(
        "openai/gpt-asked",
      );
      expect((await resolved({ skill, configured: "fast" })).id).toBe("openai/gpt-fast");
      expect((await resolved({ skill })).id).toBe("anthropic/claude-of-skill");
      expect((await resolved({ skill: { name: "x" } })).id).toBe("anthropic/claude-default");
    },
  );

  test("an alias of the program may stand for another name, and never for itself", async () => {
    const model = createScriptModel([], "given");
    const id = async (given: Readonly<Record<string, string | typeof model>>, asked?: string) =>
      (await resolved({ given, ...(asked !== undefined && { asked }) })).id;
    expect(await id({ default: "fast" })).toBe("openai/gpt-fast");
    expect(await id({ default: "openai/gpt-9" })).toBe("openai/gpt-9");
    expect(await id({ default: "mine", mine: model })).toBe("scripted/given");
    expect(await id({ quick: "fast" }, "quick")).toBe("openai/gpt-fast");
    expect(await id({ default: "default" })).toBe("anthropic/claude-default");
    expect(await refused({ given: { a: "b", b: "a" }, asked: "a" })).toMatchObject({ code: "model.unknown" });
    expect(await refused({ given: { default: "fasst" } })).toMatchObject({ code: "model.unknown" });
    const wish = { given: { default: "fast" }, skill: { name: "x", model: "unheard-of" } };
    expect((await resolved(wish)).id).toBe("openai/gpt-fast");
  });

  verifies(
    [22, 23, 159, "case 75"],
    "a name is an alias, a provider with a model, or a model of a known family",
    async () => {
      const named = async (model: string) => resolved({ skill: { name: "x", model } });
      expect(await named("fast")).toMatchObject({ id: "openai/gpt-fast", alias: "fast", diagnostics: [] });
      expect((await named("anthropic/claude-opus-9")).id).toBe("anthropic/claude-opus-9");
      expect((await named("anthropic:claude-opus-9")).id).toBe("anthropic/claude-opus-9");
      expect((await named("gpt-7")).id).toBe("openai/gpt-7");
      expect((await named("default")).id).toBe("anthropic/claude-default");
    },
  );

  test("a provider that an alias reaches already is reached with the same key", async () => {
    const model = await resolved({ asked: "openai/gpt-other" });
    expect(model.secrets).toEqual([{ name: "models.fast.api-key", value: "key-of-fast" }]);
  });

  verifies(
    [160, "case 75"],
    "an unknown name falls back to the default, with a warning that lists the aliases",
    async () => {
      const model = await resolved({ skill: { name: "x", model: "fasst", location: "/x/SKILL.md" } });
      expect(model.id).toBe("anthropic/claude-default");
      expect(model.diagnostics).toEqual([
        {
          code: "model.unknown",
          severity: "warning",
          message: "The skill `x` names the unknown model `fasst`. The default model is used.",
          hint: `Did you mean \`fast\`? Configured: \`default\`, \`fast\`. ${BUILT_IN}`,
          path: "/x/SKILL.md",
        },
      ]);
    },
  );

  test("[U5] an unknown name of the call or the config is refused, with near names and the aliases", async () => {
    expect(await refused({ asked: "fasst" })).toEqual({
      code: "model.unknown",
      message: "Unknown model `fasst`.",
      hint: `Did you mean \`fast\`? Configured: \`default\`, \`fast\`. ${BUILT_IN}`,
    });
    expect(await refused({ skill: { name: "x" }, configured: "sonet", models: {} })).toEqual({
      code: "model.unknown",
      message: "`[skills.x]` in your config names the unknown model `sonet`.",
      hint: `Did you mean \`sonnet\`? No aliases are configured. ${BUILT_IN}`,
    });
    const { hint } = await refused({ asked: "antropic/claude-opus-5-5" });
    expect(hint).toContain("Did you mean `anthropic/claude-opus-5-5`?");
  });

  test("`inherit` is the caller's model, or the default where nobody calls", async () => {
    const skill = { name: "x", model: "inherit" };
    const caller = await resolved({ asked: "fast" });
    expect(await resolved({ skill, caller })).toMatchObject({ id: "openai/gpt-fast", diagnostics: [] });
    expect(await resolved({ skill })).toMatchObject({ id: "anthropic/claude-default", diagnostics: [] });
  });

  test("the caller's model stands in where there is no default", async () => {
    const caller = await resolved({ asked: "fast" });
    const id = "openai/gpt-fast";
    expect(await resolved({ models: {}, environment: {}, caller })).toMatchObject({ id });
  });

  test("a skill's wish for a provider without a key falls back; the user's own does not", async () => {
    const model = await resolved({ skill: { name: "x", model: "gemini-9" } });
    expect(model.id).toBe("anthropic/claude-default");
    expect(model.diagnostics[0]?.code).toBe("model.no-key");
    const { message, hint } = await refused({ asked: "gemini-9" });
    expect(message).toBe("The model `gemini-9` needs a key for `google`.");
    expect(hint).toContain("Set `GOOGLE_GENERATIVE_AI_API_KEY`");
  });

  test("a skill cannot name a file as its model", async () => {
    const model = await resolved({ skill: { name: "x", model: "scripted:/etc/passwd" } });
    expect(model.diagnostics[0]?.code).toBe("model.unknown");
  });

  test("names that objects have by themselves are not aliases", async () => {
    const model = await resolved({ skill: { name: "constructor", model: "toString" } });
    expect(model.diagnostics[0]?.code).toBe("model.unknown");
  });
});

describe("[U19] built-in aliases", () => {
  const keys = { ANTHROPIC_API_KEY: "a-key", OPENAI_API_KEY: "o-key", GEMINI_API_KEY: "g-key" };
  const idOf = async (asked: string, change: Change = {}): Promise<string> =>
    (await resolved({ models: {}, environment: keys, asked, ...change })).id;

  test("stand for a model of the provider that has a key", async () => {
    expect(await idOf("opus")).toBe("anthropic/claude-opus-5-5");
    expect(await idOf("sonnet")).toBe("anthropic/claude-sonnet-5-5");
    expect(await idOf("gpt")).toBe("openai/gpt-6-astra");
    expect(await idOf("gemini")).toBe("google/gemini-3.8-flash");
    expect(await idOf("fast")).toBe("anthropic/claude-haiku-5-5");
    expect(await idOf("fast", { environment: { OPENAI_API_KEY: "o-key" } })).toBe("openai/gpt-6-luna");
    expect(await idOf("smart", { environment: { GEMINI_API_KEY: "g-key" } })).toBe("google/gemini-4-argon");
  });

  test("each leads to a model whose price is known", async () => {
    for (const alias of Object.keys(BUILT_IN_ALIASES)) {
      expect((await resolved({ models: {}, environment: keys, asked: alias })).pricing).toBeDefined();
    }
  });

  test("the user's table of that name wins, then a configured model of that name", async () => {
    expect(await idOf("haiku", { models: { haiku: FAST } })).toBe("openai/gpt-fast");
    const big = { provider: "anthropic", model: "claude-opus-4-1", apiKey: "mine", inputPrice: 1 } as const;
    const model = await resolved({ models: { big }, environment: keys, asked: "opus" });
    expect(model).toMatchObject({
      id: "anthropic/claude-opus-4-1",
      alias: "big",
      pricing: { inputPrice: 1 },
    });
    const elsewhere = {
      provider: "openai-compatible",
      model: "opus",
      baseUrl: "http://127.0.0.1:1",
    } as const;
    expect(await idOf("opus", { models: { elsewhere } })).toBe("anthropic/claude-opus-5-5");
  });

  test("a configured provider is reached with its own key and address, not with its model or its prices", async () => {
    const model = await resolved({ models: { default: { ...DEFAULT, inputPrice: 99 } }, asked: "sonnet" });
    expect(model).toMatchObject({
      id: "anthropic/claude-sonnet-5-5",
      secrets: [{ name: "MY_KEY" }],
      pricing: { inputPrice: 2, outputPrice: 10 },
    });
  });

  test("without a key they say which one would do; a skill's wish is the default and a warning", async () => {
    expect(await refused({ models: {}, environment: {}, asked: "opus" })).toEqual({
      message: "The model `opus` needs a key for `anthropic`.",
      hint: 'Set `ANTHROPIC_API_KEY`, or add a table with `provider = "anthropic"` and its key to your config.',
    });
    const { hint } = await refused({ models: {}, environment: {}, asked: "fast" });
    expect(hint).toContain("Set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` or `GOOGLE_GENERATIVE_AI_API_KEY`");
    const model = await resolved({ models: { default: FAST }, skill: { name: "x", model: "haiku" } });
    expect(model).toMatchObject({ id: "openai/gpt-fast", diagnostics: [{ code: "model.no-key" }] });
  });
});

describe("without a configured model", () => {
  test.each([
    [{ ANTHROPIC_API_KEY: "a-key", OPENAI_API_KEY: "o-key" }, "anthropic", "ANTHROPIC_API_KEY"],
    [{ OPENAI_API_KEY: "o-key" }, "openai", "OPENAI_API_KEY"],
    [{ GEMINI_API_KEY: "g-key" }, "google", "GEMINI_API_KEY"],
  ])("a key in the environment is enough: %j", async (environment, provider, name) => {
    const model = await resolved({ models: {}, environment });
    expect(model.provider).toBe(provider);
    expect(model.secrets).toEqual([{ name, value: environment[name as keyof typeof environment] }]);
    expect(model.id).toMatch(new RegExp(`^${provider}/.+`));
  });

  test("[U3] with none, `metier init` is named first, then the other ways to get one", async () => {
    const { message, hint } = await onCommandLine(() => refused({ models: {}, environment: {} }));
    expect(message).toContain("No model is configured");
    expect(hint).toContain("`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`");
    expect(hint).toContain("[models.default]");
    expect(hint).toMatch(/^Run `metier init`/);
    expect(hint).toContain('provider = "ollama"');
  });

  test("ready models of the embedding program are taken by alias, as default and as the call's model", async () => {
    const ready = createScriptModel([], "ready");
    expect((await resolved({ models: {}, environment: {}, given: { default: ready } })).model).toBe(ready);
    expect((await resolved({ given: { small: ready }, asked: "small" })).id).toBe("scripted/ready");
    expect((await resolved({ asked: ready })).model).toBe(ready);
  });

  test("a model of another version of the interface is refused", async () => {
    const old = { ...createScriptModel([]), specificationVersion: "v2" } as unknown as ReturnType<
      typeof createScriptModel
    >;
    expect((await refused({ asked: old })).message).toContain("`v2`");
  });
});

describe("keys", () => {
  test("a variable that is not set is named", async () => {
    const { message } = await refused({ environment: {} });
    expect(message).toBe("`models.default` takes its key from the variable `MY_KEY`, which is not set.");
  });

  test("a command prints the key, is run without a shell, and once", async () => {
    const calls: (readonly string[])[] = [];
    const change: Change = {
      models: { default: { provider: "anthropic", model: "m", apiKeyCommand: ["pass", "show", "a b; rm"] } },
      runCommand: async (argv) => {
        calls.push(argv);
        return { stdout: "printed-key\n" };
      },
    };
    expect((await resolved(change)).secrets[0]?.value).toBe("printed-key");
    await resolved(change);
    expect(calls).toEqual([["pass", "show", "a b; rm"]]);
  });

  test("a command that fails is named, not what it printed, and is run again next time", async () => {
    let calls = 0;
    const change: Change = {
      models: { default: { provider: "anthropic", model: "m", apiKeyCommand: ["vault-read"] } },
      runCommand: async () => {
        calls += 1;
        throw new Error("half-a-key");
      },
    };
    const failure = await refused(change);
    expect(failure.message).toContain("`vault-read`");
    expect(JSON.stringify(failure)).not.toContain("half-a-key");
    await refused(change);
    expect(calls).toBe(2);
  });
});

describe("addresses", () => {
  const local = (baseUrl: string, rest: ModelConfig = {}): Change => ({
    models: { default: { provider: "openai-compatible", model: "llama", baseUrl, ...rest } },
  });

  test("a local server needs no key", async () => {
    const model = await resolved(local("http://127.0.0.1:11434/v1"));
    expect(model).toMatchObject({ id: "openai-compatible/llama", secrets: [], diagnostics: [] });
  });

  test.each([
    "ftp://example.com",
    "file:///etc/passwd",
    "example.com/v1",
    "https://me:secret@example.com/v1",
  ])("%s is refused without being repeated", async (baseUrl) => {
    const failure = await refused(local(baseUrl));
    expect(failure.message).toContain("`models.default.base-url`");
    expect(JSON.stringify(failure)).not.toContain("secret");
  });

  test("a key over plain HTTP to another machine draws a warning; to this machine, or without a key, it does not", async () => {
    const key = { apiKey: "some-long-key" };
    expect((await resolved(local("http://10.0.0.9/v1", key))).diagnostics[0]?.code).toBe("model.plain-http");
    expect((await resolved(local("http://localhost:8080/v1", key))).diagnostics).toEqual([]);
    expect((await resolved(local("http://10.0.0.9/v1"))).diagnostics).toEqual([]);
    expect((await resolved(local("https://example.com/v1", key))).diagnostics).toEqual([]);
  });

  test("a server without an address is refused", async () => {
    const { message } = await refused({ models: { default: { provider: "openai-compatible", model: "m" } } });
    expect(message).toContain("has no `base-url`");
  });

  test("what a table leaves out follows from the rest, or is asked for", async () => {
    expect((await resolved({ models: { default: { model: "claude-9", apiKey: "a-key" } } })).provider).toBe(
      "anthropic",
    );
    expect(
      (await resolved({ models: { default: { model: "m", baseUrl: "http://localhost:1" } } })).provider,
    ).toBe("openai-compatible");
    expect((await refused({ models: { default: { model: "m" } } })).message).toContain("has no `provider`");
    const nameless = { provider: "openai-compatible", baseUrl: "http://localhost:1" } as const;
    expect((await refused({ models: { default: nameless } })).message).toContain("has no `model`");
  });
});

describe("models from files", () => {
  test("a script is read, checked, and shared with the runs that are started from it", async () => {
    const folder = temporaryFolder();
    writeTree(folder, {
      "good.json": '[{"answer":{"text":"hi"}}]',
      "bad.json": '[{"anwser":{}}]',
      "no.json": "{",
    });
    const models = { default: { provider: "scripted", model: `${folder}/good.json` } } as const;
    const first = await resolved({ models });
    expect((await resolved({ models, caller: first })).model).toBe(first.model);
    expect((await refused({ asked: `scripted:${folder}/bad.json` })).message).toContain("Turn 1 is not");
    expect((await refused({ asked: `scripted:${folder}/no.json` })).message).toContain("It is not JSON.");
    expect((await refused({ asked: `scripted:${folder}/none.json` })).hint).toContain("path of a JSON file");
  });
});

test("prices go with the model they are configured for", async () => {
  const priced = { ...FAST, inputPrice: 2, outputPrice: 8 };
  expect((await resolved({ models: { default: priced } })).pricing).toEqual({
    inputPrice: 2,
    outputPrice: 8,
  });
  expect(
    (await resolved({ models: { default: priced }, asked: "openai/gpt-other" })).pricing,
  ).toBeUndefined();
  expect((await resolved({ models: { default: priced }, asked: "gpt-6-luna" })).pricing).toMatchObject({
    inputPrice: 0.1,
  });
});
