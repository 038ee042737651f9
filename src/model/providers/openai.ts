/**
 * OpenAI's Responses API. A server that speaks the older chat completions is `openai-compatible`. Nothing is kept at
 * the provider: each request carries the whole conversation, as the redaction gate has left it.
 */
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Endpoint } from "./open-endpoint.ts";

export function openOpenAi({ model: name, baseUrl, key = "" }: Endpoint): LanguageModelV4 {
  const model = createOpenAI({ baseURL: baseUrl, apiKey: key }).responses(name);
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(unstored(options)),
    doStream: (options) => model.doStream(unstored(options)),
  };
}

function unstored(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { providerOptions } = options;
  return {
    ...options,
    providerOptions: { ...providerOptions, openai: { store: false, ...providerOptions?.openai } },
  };
}
