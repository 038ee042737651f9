import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { costOf, listPrice, PRICES_AS_OF, pricingOf } from "../../src/model/prices.ts";
import { PROVIDER_FACTS } from "../../src/model/providers.ts";

const usage = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
});

verifies(206, "tokens cost what a million of them costs", () => {
  expect(costOf(usage(500_000, 100_000), { inputPrice: 3, outputPrice: 15 })).toBeCloseTo(3);
  expect(costOf(usage(500_000, 100_000), undefined)).toBeUndefined();
});

test("there is no price where none is configured or listed, and one may stand alone", () => {
  expect(pricingOf({})).toBeUndefined();
  expect(pricingOf({ outputPrice: 4 })).toEqual({ inputPrice: 0, outputPrice: 4 });
});

describe("[U6] the price list", () => {
  test("has a date, and a price for every default model that is paid by the token", () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const [provider, { defaultModel }] of Object.entries(PROVIDER_FACTS)) {
      if (defaultModel !== undefined && provider !== "claude-program")
        expect(listPrice(provider, defaultModel)).toBeDefined();
    }
  });

  test("loses to the config, which may set half of a pair", () => {
    const listed = listPrice("anthropic", "claude-sonnet-5-5");
    expect(pricingOf({}, listed)).toEqual({ inputPrice: 2, outputPrice: 10 });
    expect(pricingOf({ inputPrice: 1 }, listed)).toEqual({ inputPrice: 1, outputPrice: 10 });
    expect(pricingOf({ inputPrice: 0, outputPrice: 0 }, listed)).toEqual({ inputPrice: 0, outputPrice: 0 });
  });

  test("knows dated versions, and no model by half its name", () => {
    expect(listPrice("anthropic", "claude-haiku-4-5-20251001")).toEqual({ inputPrice: 1, outputPrice: 5 });
    expect(listPrice("anthropic", "claude-haiku")).toBeUndefined();
    expect(listPrice("openai-compatible", "claude-haiku-4-5")).toBeUndefined();
    expect(listPrice("constructor", "toString")).toBeUndefined();
    expect(listPrice("openai", "constructor")).toBeUndefined();
  });

  test("a longer request costs what the provider asks for longer ones", () => {
    const listed = listPrice("anthropic", "claude-haiku-5-5");
    expect(costOf(usage(100_000, 1_000_000), listed)).toBeCloseTo(0.51);
    expect(costOf(usage(200_000, 1_000_000), listed)).toBeCloseTo(2.6);
  });
});
