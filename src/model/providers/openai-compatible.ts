/** Whatever speaks OpenAI's chat completions: Ollama, llama.cpp, vLLM and many services. A key is optional. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Endpoint } from "./open-endpoint.ts";

export function openCompatible({ model, baseUrl, key }: Endpoint): LanguageModelV4 {
  const server = createOpenAICompatible({
    name: "openai-compatible",
    baseURL: baseUrl,
    includeUsage: true,
    ...(key !== undefined && { apiKey: key }),
  });
  return server(model);
}
