/** What is said when there is no model at all: the three ways to get one. */
import type { ModelFailure } from "./model-request.ts";
import { PROVIDER_FACTS } from "./provider-facts.ts";

export function noModel(): ModelFailure {
  const { anthropic, openai, google } = PROVIDER_FACTS;
  const variables = [anthropic, openai, google].map(({ keyVariables: [first] }) => `\`${first}\``).join(", ");
  return {
    ok: false,
    message: "No model is configured, and the environment holds no key of a known provider.",
    hint: [
      "One of these is enough:",
      `  1. a key in the environment: one of ${variables};`,
      "  2. in `~/.metier/config.toml`:",
      "       [models.default]",
      '       provider = "anthropic"',
      `       model = "${anthropic.defaultModel}"`,
      '       api-key-env = "ANTHROPIC_API_KEY"',
      "  3. a local server (Ollama, llama.cpp, vLLM), which needs no key, in the same file:",
      "       [models.default]",
      '       provider = "openai-compatible"',
      '       base-url = "http://127.0.0.1:11434/v1"',
      '       model = "<the name of a model that server has>"',
    ].join("\n"),
  };
}
