/**
 * Model prices, as data with a date: US dollars per million tokens, from the providers' public price lists, for the
 * default models, those of the built-in aliases and similar ones. Cached input costs less, so a cost computed from them
 * is an upper bound. `input-price` and `output-price` in the config win.
 */
import type { ModelConfig } from "@metier/skills/config";
import type { TokenUsage } from "../events/run-event.ts";

/** When the list was last compared with the providers' pages. */
export const PRICES_AS_OF = "2026-10-14";

/** Per million tokens; in US dollars, or in the currency of the configured prices. */
export interface Pricing {
  readonly inputPrice: number;
  readonly outputPrice: number;
  /** For requests with more than `over` input tokens. */
  readonly long?: { readonly over: number; readonly inputPrice: number; readonly outputPrice: number };
}

const price = (inputPrice: number, outputPrice: number): Pricing => ({ inputPrice, outputPrice });

/** By provider, then by the provider's name for the model. If a launch price will rise, this is the later one. */
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

/** A dated version costs what the model does: `claude-haiku-4-5-20251001`, `gpt-6-astra-2026-09-01`. */
const VERSION_DATE = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** `undefined`: the price is unknown. */
export function listPrice(provider: string, model: string): Pricing | undefined {
  const models = Object.hasOwn(PRICES, provider) ? PRICES[provider] : undefined;
  const name = model.replace(VERSION_DATE, "");
  return models !== undefined && Object.hasOwn(models, name) ? models[name] : undefined;
}

/**
 * The config's prices, else the list's. If only one of the pair is configured, the other comes from the list, if there.
 */
export function pricingOf({ inputPrice, outputPrice }: ModelConfig, listed?: Pricing): Pricing | undefined {
  if (inputPrice === undefined && outputPrice === undefined) return listed;
  return {
    inputPrice: inputPrice ?? listed?.inputPrice ?? 0,
    outputPrice: outputPrice ?? listed?.outputPrice ?? 0,
  };
}

/** For one request. `undefined` if no price is known. */
export function costOf(usage: TokenUsage, pricing: Pricing | undefined): number | undefined {
  if (pricing === undefined) return undefined;
  const { long } = pricing;
  const { inputPrice, outputPrice } = long && usage.inputTokens > long.over ? long : pricing;
  return (usage.inputTokens * inputPrice + usage.outputTokens * outputPrice) / 1_000_000;
}
