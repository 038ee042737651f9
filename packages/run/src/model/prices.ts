/**
 * What models cost, as data with a date: US dollars per million tokens, from the providers' public price lists, for the
 * default models, those of the built-in aliases and their neighbours. Input that a provider reads from its cache costs less
 * than these say, so a cost made from them is an upper bound. `input-price` and `output-price` of the config win.
 */
import type { ModelConfig } from "@metier/skills/config";
import type { TokenUsage } from "../events/run-event.ts";

/** When the list was last compared with the providers' pages. */
export const PRICES_AS_OF = "2026-10-14";

/** Per million tokens; in US dollars, or in the currency of whoever configured them. */
export interface Pricing {
  readonly inputPrice: number;
  readonly outputPrice: number;
  /** Of requests whose input is longer than `over` tokens. */
  readonly long?: { readonly over: number; readonly inputPrice: number; readonly outputPrice: number };
}

const price = (inputPrice: number, outputPrice: number): Pricing => ({ inputPrice, outputPrice });

/** By provider, then by the provider's name for the model. Where a launch price will rise, the later one stands here. */
export const PRICES: Readonly<Record<string, Readonly<Record<string, Pricing>>>> = {
  anthropic: {
    "claude-fable-5-1": price(10, 50),
    "claude-opus-5-5": price(4, 20),
    "claude-opus-5": price(5, 25),
    "claude-sonnet-5-5": price(2, 10),
    "claude-sonnet-5": price(2, 10),
    "claude-haiku-5-5": {
      ...price(0.1, 0.5),
      long: { over: 100_000, inputPrice: 0.5, outputPrice: 2.5 },
    },
    "claude-haiku-4-5": price(1, 5),
  },
  openai: {
    "gpt-6-astra": price(10, 50),
    "gpt-6-sol": price(2, 10),
    "gpt-6.1-sol": price(2, 10),
    "gpt-6-luna": price(0.1, 0.5),
  },
  google: {
    "gemini-4-argon": price(4, 20),
    "gemini-3.8-flash": price(1.5, 7.5),
  },
};

/** A dated version of a model costs what the model does: `claude-haiku-4-5-20251001`, `gpt-6-astra-2026-09-01`. */
const VERSION_DATE = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** `undefined`: nobody said what the model costs. */
export function listPrice(provider: string, model: string): Pricing | undefined {
  const models = Object.hasOwn(PRICES, provider) ? PRICES[provider] : undefined;
  const name = model.replace(VERSION_DATE, "");
  return models !== undefined && Object.hasOwn(models, name) ? models[name] : undefined;
}

/** The config's prices, else the list's. Of a pair that is only half configured the other half is the list's, or nothing. */
export function pricingOf({ inputPrice, outputPrice }: ModelConfig, listed?: Pricing): Pricing | undefined {
  if (inputPrice === undefined && outputPrice === undefined) return listed;
  return {
    inputPrice: inputPrice ?? listed?.inputPrice ?? 0,
    outputPrice: outputPrice ?? listed?.outputPrice ?? 0,
  };
}

/** Of one request. `undefined` where no price is known. */
export function costOf(usage: TokenUsage, pricing: Pricing | undefined): number | undefined {
  if (pricing === undefined) return undefined;
  const { long } = pricing;
  const { inputPrice, outputPrice } = long && usage.inputTokens > long.over ? long : pricing;
  return (usage.inputTokens * inputPrice + usage.outputTokens * outputPrice) / 1_000_000;
}
