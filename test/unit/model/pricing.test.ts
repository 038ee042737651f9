import { expect, test } from "vitest";
import { costOf, pricingOf } from "../../../src/model/pricing.ts";
import { verifies } from "../../support/verifies.ts";

verifies(206, "tokens cost what the config says a million of them costs", () => {
  const usage = { inputTokens: 500_000, outputTokens: 100_000, totalTokens: 600_000 };
  expect(costOf(usage, { inputPrice: 3, outputPrice: 15 })).toBeCloseTo(3);
  expect(costOf(usage, undefined)).toBe(0);
});

test("there is no price where none is configured, and one may stand alone", () => {
  expect(pricingOf({})).toBeUndefined();
  expect(pricingOf({ outputPrice: 4 })).toEqual({ inputPrice: 0, outputPrice: 4 });
});
