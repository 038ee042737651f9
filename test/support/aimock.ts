/**
 * A model provider on loopback that nobody here wrote (`@copilotkit/aimock`), in the wire formats of the providers.
 * Tests over real HTTP use it: fixtures in, requests out.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type Fixture, type JournalEntry, LLMock } from "@copilotkit/aimock";
import { openEndpoint } from "@metier/run/model";
import type { ModelConfig } from "@metier/skills/config";
import { onTestFinished } from "vitest";

export const FORMATS = ["anthropic", "openai-chat", "openai-responses"] as const;
export type Format = (typeof FORMATS)[number];

/** Of the right length to be redacted, and of no worth. */
export const PROVIDER_KEY = "loopback-key-0123456789";

export interface TestProvider {
  readonly url: string;
  /** What came, oldest first. */
  requests(): readonly JournalEntry[];
  /** The table `[models.<alias>]` that leads here. */
  config(format: Format): ModelConfig & Required<Pick<ModelConfig, "provider" | "model" | "baseUrl">>;
  /** The same as lines of a config file. */
  toml(format: Format, alias?: string): string;
  model(format: Format): Promise<LanguageModelV4>;
}

const PROVIDERS = {
  anthropic: { provider: "anthropic", model: "claude-sonnet-5-5" },
  "openai-chat": { provider: "openai-compatible", model: "gpt-4.1" },
  "openai-responses": { provider: "openai", model: "gpt-4.1" },
} as const;

/** Runs until the test ends. The first fixture that matches a request answers it. */
export async function startProvider(fixtures: readonly Fixture[]): Promise<TestProvider> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  mock.addFixtures([...fixtures]);
  await mock.start();
  onTestFinished(() => mock.stop());
  const url = mock.url;
  const config: TestProvider["config"] = (format) => ({
    ...PROVIDERS[format],
    baseUrl: `${url}/v1`,
    apiKey: PROVIDER_KEY,
  });
  return {
    url,
    requests: () => mock.getRequests(),
    config,
    toml(format, alias = "default") {
      const { provider, model, baseUrl } = config(format);
      const lines = { provider, model, "base-url": baseUrl, "api-key": PROVIDER_KEY };
      const written = Object.entries(lines).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
      return [`[models.${alias}]`, ...written, ""].join("\n");
    },
    model: (format) =>
      openEndpoint({ ...config(format), key: PROVIDER_KEY } as Parameters<typeof openEndpoint>[0]),
  };
}
