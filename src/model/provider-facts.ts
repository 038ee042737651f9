/**
 * What is to be known of each provider, as data: where its key stands, which model is taken when nobody named one, and
 * by which names its models are recognised. A newer default model is a change of one line here.
 */
import type { ModelProvider } from "../config/config.ts";

export interface ProviderFacts {
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
  replay: { keyVariables: [], path: "" },
  scripted: { keyVariables: [], path: "" },
};

/** Names of models that skills written for Claude use; elsewhere they are aliases like any other. */
export const CLAUDE_ALIASES: readonly string[] = ["haiku", "sonnet", "opus"];
