/**
 * What is to be known of each provider, as data; a newer default model is a change of one line here. And the way to one: the
 * address where it is asked (configured, the environment's, or its own), the key (written in the config, in a variable, or
 * printed by a command; never in a message), and its package, which is loaded when a model of it is opened.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isLoopbackHost } from "@metier/base/net";
import { done, type Result, refused } from "@metier/base/result";
import type { ModelConfig, ModelProvider } from "@metier/skills/config";
import type { CommandRunner, ModelRefusal, ModelRequest, ModelSecret } from "./model-request.ts";

interface ProviderFacts {
  /** Environment variables that may hold the key, the first that is set wins; empty: no key is needed. */
  readonly keyVariables: readonly string[];
  /** Another address than the provider's own, by environment. */
  readonly urlVariable?: string;
  readonly defaultUrl?: string;
  /** What a `base-url` without a path gets: servers are often named by host and port alone. */
  readonly path: string;
  readonly defaultModel?: string;
  /** How the names of its models begin. */
  readonly family?: RegExp;
}

/** In the order in which the environment is asked for a key. */
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
  /** What asks it. Default: the process's own `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Loads the package of the provider that is asked for, and no other. */
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
      // Whatever speaks OpenAI's chat completions: Ollama, llama.cpp, vLLM and many services. A key is optional.
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
 * OpenAI's Responses API keeps nothing at the provider: each request carries the whole conversation, as the redaction
 * gate has left it.
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

/** Always an explicit address, so that the provider's package does not look for one of its own. */
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
      message: `\`${where}\` has no \`base-url\`, which \`${provider}\` needs.`,
      hint: "Give the server's address, for example `http://127.0.0.1:8080/v1` for llama.cpp.",
    });
  }
  const url = URL.parse(written);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username || url.password) {
    return refused({
      message: `\`${key}\` is not an address that begins with \`http://\` or \`https://\`, without user or password.`,
      hint: "Write it like `https://example.com/v1`; keys belong in `api-key-env` or `api-key-command`.",
    });
  }
  if (url.pathname === "/") url.pathname = path;
  return done(url.href.replace(/\/+$/, ""));
}

/** A key that leaves the machine in the clear can be read on its way. */
export function warnOfPlainHttp(url: string, where: string): readonly Diagnostic[] {
  const { protocol, hostname, host } = new URL(url);
  if (protocol !== "http:" || isLoopbackHost(hostname) || hostname.endsWith(".localhost")) return [];
  const message = `The key of \`${where}\` is sent to \`${host}\` over plain HTTP, where others can read it.`;
  const hint = "Use `https://`, or leave the key out if the server needs none.";
  return [{ code: "model.plain-http", severity: "warning", message, hint, path: `${where}.base-url` }];
}

/** `undefined`: the model needs none, or it is not fetched now. */
type KeyOutcome = Result<ModelSecret | undefined, ModelRefusal>;

/** A command that prints a key is run once per process: it may ask for a finger or unlock a vault. */
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
      hint: `Set \`${apiKeyEnv}\`, or give \`api-key\` or \`api-key-command\` instead.`,
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
  const value = await printed.catch(() => ""); // What failed may have printed the key: only that it failed is said.
  if (value !== "") return done({ name: `${where}.api-key-command`, value });
  printedKeys.delete(id);
  return refused({
    message: `The \`api-key-command\` of \`${where}\`, \`${command[0]}\`, failed or printed nothing.`,
    hint: "Run it in a terminal: it must print the key, and nothing else, and end with 0.",
  });
}
