import { expect, test } from "vitest";
import { readModelUrl } from "../../src/model/providers.ts";

const read = (
  config: Parameters<typeof readModelUrl>[0],
  environment: Readonly<Record<string, string>> = {},
) => readModelUrl(config, "models.default", { environment });

test("the config beats the environment, and the environment the provider's own address", () => {
  const environment = { ANTHROPIC_BASE_URL: "http://localhost:9/v1" };
  expect(read({ provider: "anthropic", baseUrl: "http://localhost:8/v1" }, environment)).toEqual({
    ok: true,
    value: "http://localhost:8/v1",
  });
  expect(read({ provider: "anthropic" }, environment)).toEqual({ ok: true, value: "http://localhost:9/v1" });
  expect(read({ provider: "anthropic" })).toEqual({ ok: true, value: "https://api.anthropic.com/v1" });
});

test.each([
  ["anthropic", "http://localhost:9", "http://localhost:9/v1"],
  ["openai-compatible", "http://localhost:11434/", "http://localhost:11434/v1"],
  ["google", "http://localhost:9", "http://localhost:9/v1beta"],
  ["openai", "http://localhost:9/proxy/v1/", "http://localhost:9/proxy/v1"],
] as const)("%s at %s is asked at %s", (provider, baseUrl, url) => {
  expect(read({ provider, baseUrl })).toEqual({ ok: true, value: url });
});

test("a wrong address from the environment is named by its variable", () => {
  expect(read({ provider: "openai" }, { OPENAI_BASE_URL: "localhost" })).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining("`OPENAI_BASE_URL`") },
  });
});
