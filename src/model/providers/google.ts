/** Google's Gemini API. */
import { createGoogle } from "@ai-sdk/google";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Endpoint } from "./open-endpoint.ts";

export function openGoogle({ model, baseUrl, key = "" }: Endpoint): LanguageModelV4 {
  return createGoogle({ baseURL: baseUrl, apiKey: key })(model);
}
