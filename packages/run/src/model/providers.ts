/**
 * Facts about each provider, as data; a newer default model is a one-line change here. Also how to reach one: its
 * address (configured, from the environment, or its own), its key (in the config, in a variable, or printed by a
 * command; never in a message), and its package, which is loaded when one of its models is opened.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isLoopbackHost } from "@metier/base/net";
import { done, type Result, refused } from "@metier/base/result";
import type { ModelConfig, ModelProvider } from "@metier/skills/config";
import type { CommandRunner, ModelRefusal, ModelRequest, ModelSecret } from "./model-request.ts";

interface ProviderFacts {
  /** Environment variables that may have the key, the first one set wins; empty: no key is needed. */
  readonly keyVariables: readonly string[];
  /** A variable that overrides the provider's address. */
  readonly urlVariable?: string;
  readonly defaultUrl?: string;
  /** Added to a `base-url` without a path: servers are often given as host and port. */
  readonly path: string;
  readonly defaultModel?: string;
  /** How its model names start. */
  readonly family?: RegExp;
}

/** In the order in which the environment is checked for a key. */
export const PROVIDER_FACTS: Readonly<Record<ModelProvider, ProviderFacts>> = {
  anthropic: {
    keyVariables: ["ANTHROPIC_API_KEY"],
    urlVariable: "ANTHROPIC_BASE_URL",
    defaultUrl: "https://api.anthropic.com/v1",
    path: "/v1",
    defaultModel: "claude-sonnet-5-5",
    family: /^claude-/,
  },
  openai: {
    keyVariables: ["OPENAI_API_KEY"],
    urlVariable: "OPENAI_BASE_URL",
    defaultUrl: "https://api.openai.com/v1",
    path: "/v1",
    defaultModel: "gpt-6-astra",
    family: /^(?:gpt|chatgpt|o\d)-/,
  },
  google: {
    keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    defaultUrl: "https://generativelanguage.googleapis.com/v1beta",
    path: "/v1beta",
    defaultModel: "gemini-3.8-flash",
    family: /^gemini-/,
  },
  "openai-compatible": { keyVariables: [], path: "/v1" },
  ollama: { keyVariables: [], defaultUrl: "http://127.0.0.1:11434", path: "" },
  gguf: { keyVariables: [], path: "" },
  "claude-program": { keyVariables: [], path: "", defaultModel: "default" },
  replay: { keyVariables: [], path: "" },
  scripted: { keyVariables: [], path: "" },
};

/** One address, one key, one model. */
export interface Endpoint {
  readonly provider: Exclude<ModelProvider, "gguf" | "claude-program" | "replay" | "scripted">;
  readonly model: string;
  readonly baseUrl: string;
  readonly key?: string | undefined;
  readonly contextTokens?: number | undefined;
  /** Default: the process's own `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Loads only the package of the requested provider. */
export async function openEndpoint(endpoint: Endpoint): Promise<LanguageModelV4> {
  const { provider, model, baseUrl: baseURL, key } = endpoint;
  const reached = { baseURL, ...(endpoint.fetch && { fetch: endpoint.fetch }) };
  switch (provider) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ ...reached, apiKey: key ?? "" })(model);
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return withoutStoring(createOpenAI({ ...reached, apiKey: key ?? "" }).responses(model));
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      return createGoogle({ ...reached, apiKey: key ?? "" })(model);
    }
    case "openai-compatible": {
      // Anything that speaks OpenAI's chat completions: Ollama, llama.cpp, vLLM and many services. A key is optional.
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const named = { name: "openai-compatible", ...reached, includeUsage: true };
      return createOpenAICompatible(key === undefined ? named : { ...named, apiKey: key })(model);
    }
    case "ollama": {
      const { createOllamaModel } = await import("./ollama-model.ts");
      return createOllamaModel(endpoint);
    }
  }
}

/**
 * OpenAI's Responses API stores nothing at the provider: each request carries the whole conversation, as the redaction
 * gate left it.
 */
function withoutStoring(model: LanguageModelV4): LanguageModelV4 {
  const unstored = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const { providerOptions } = options;
    return {
      ...options,
      providerOptions: { ...providerOptions, openai: { store: false, ...providerOptions?.openai } },
    };
  };
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(unstored(options)),
    doStream: (options) => model.doStream(unstored(options)),
  };
}

/** Always explicit, so that the provider's package doesn't look for an address itself. */
export function readModelUrl(
  { baseUrl, provider }: ModelConfig & { readonly provider: ModelProvider },
  where: string,
  { environment }: Pick<ModelRequest, "environment">,
): Result<string, ModelRefusal> {
  const { urlVariable, defaultUrl, path } = PROVIDER_FACTS[provider];
  const fromEnvironment = urlVariable === undefined ? undefined : environment[urlVariable];
  const written = baseUrl || fromEnvironment || defaultUrl;
  const key = baseUrl || !fromEnvironment ? `${where}.base-url` : urlVariable;
  if (written === undefined) {
    return refused({
      message: `\`${where}\` has no \`base-url\`, but \`${provider}\` needs one.`,
      hint: "Set it to the server's address, for example `http://127.0.0.1:8080/v1` for llama.cpp.",
    });
  }
  const url = URL.parse(written);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username || url.password) {
    return refused({
      message: `\`${key}\` is not an \`http://\` or \`https://\` address without a user or password.`,
      hint: "Write it like `https://example.com/v1`; keys belong in `api-key-env` or `api-key-command`.",
    });
  }
  if (url.pathname === "/") url.pathname = path;
  return done(url.href.replace(/\/+$/, ""));
}

/** A key sent unencrypted can be read on the way. */
export function warnOfPlainHttp(url: string, where: string): readonly Diagnostic[] {
  const { protocol, hostname, host } = new URL(url);
  if (protocol !== "http:" || isLoopbackHost(hostname) || hostname.endsWith(".localhost")) return [];
  const message = `The key of \`${where}\` is sent to \`${host}\` over plain HTTP, where others can read it.`;
  const hint = "Use `https://`, or remove the key if the server needs none.";
  return [{ code: "model.plain-http", severity: "warning", message, hint, path: `${where}.base-url` }];
}

/** `undefined`: the model needs none, or it isn't fetched now. */
type KeyOutcome = Result<ModelSecret | undefined, ModelRefusal>;

/** A command that prints a key runs once per process: it may ask for a fingerprint or unlock a vault. */
const printedKeys = new Map<string, Promise<string>>();

export async function readKey(
  config: ModelConfig & { readonly provider: ModelProvider },
  where: string,
  { environment, runCommand }: Pick<ModelRequest, "environment" | "runCommand">,
): Promise<KeyOutcome> {
  const { apiKey, apiKeyEnv, apiKeyCommand, provider } = config;
  if (apiKey) return done({ name: `${where}.api-key`, value: apiKey });
  if (apiKeyEnv) {
    const value = environment[apiKeyEnv];
    if (value) return done({ name: apiKeyEnv, value });
    return refused({
      message: `\`${where}\` takes its key from the variable \`${apiKeyEnv}\`, which is not set.`,
      hint: `Set \`${apiKeyEnv}\`, or use \`api-key\` or \`api-key-command\` instead.`,
    });
  }
  if (apiKeyCommand) return runCommand ? readPrintedKey(apiKeyCommand, where, runCommand) : done(undefined);
  const { keyVariables } = PROVIDER_FACTS[provider];
  const variable = keyVariables.find((name) => environment[name]);
  if (variable) return done({ name: variable, value: environment[variable] ?? "" });
  if (keyVariables.length === 0) return done(undefined);
  return refused({
    message: `\`${where}\` has no key for \`${provider}\`.`,
    hint: `Set \`${keyVariables[0]}\`, or add \`api-key-env\`, \`api-key-command\` or \`api-key\` to \`[${where}]\`.`,
  });
}

async function readPrintedKey(
  command: readonly string[],
  where: string,
  runCommand: CommandRunner,
): Promise<KeyOutcome> {
  const id = JSON.stringify(command);
  const printed = printedKeys.get(id) ?? runCommand(command).then(({ stdout }) => stdout.trim());
  printedKeys.set(id, printed);
  const value = await printed.catch(() => ""); // Its output may contain the key, so the message only says that it failed.
  if (value !== "") return done({ name: `${where}.api-key-command`, value });
  printedKeys.delete(id);
  return refused({
    message: `The \`api-key-command\` of \`${where}\`, \`${command[0]}\`, failed or printed nothing.`,
    hint: "Run it in a terminal: it must print only the key and exit with 0.",
  });
}
