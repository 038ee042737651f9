/** Anthropic's Messages API. */
import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Endpoint } from "./open-endpoint.ts";

export function openAnthropic({ model, baseUrl, key = "" }: Endpoint): LanguageModelV4 {
  return createAnthropic({ baseURL: baseUrl, apiKey: key })(model);
}
