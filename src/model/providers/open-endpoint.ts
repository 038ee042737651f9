/** One address, one key, one model: loads the package of the provider that is asked for, and no other. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelProvider } from "../../config/config.ts";

export interface Endpoint {
  readonly provider: Exclude<ModelProvider, "replay" | "scripted">;
  readonly model: string;
  readonly baseUrl: string;
  readonly key?: string;
}

export async function openEndpoint(endpoint: Endpoint): Promise<LanguageModelV4> {
  switch (endpoint.provider) {
    case "anthropic":
      return (await import("./anthropic.ts")).openAnthropic(endpoint);
    case "openai":
      return (await import("./openai.ts")).openOpenAi(endpoint);
    case "google":
      return (await import("./google.ts")).openGoogle(endpoint);
    case "openai-compatible":
      return (await import("./openai-compatible.ts")).openCompatible(endpoint);
  }
}
