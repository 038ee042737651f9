/** What tokens cost, by the prices the user configured; Metier knows no price list of its own. */
import type { ModelConfig } from "../config/config.ts";
import type { TokenUsage } from "../events/run-event.ts";

/** Per million tokens. */
export interface Pricing {
  readonly inputPrice: number;
  readonly outputPrice: number;
}

const MILLION = 1_000_000;

/** `undefined` where no price is configured; a price that is missing beside the other counts as zero. */
export function pricingOf({ inputPrice, outputPrice }: ModelConfig): Pricing | undefined {
  if (inputPrice === undefined && outputPrice === undefined) return undefined;
  return { inputPrice: inputPrice ?? 0, outputPrice: outputPrice ?? 0 };
}

export function costOf(usage: TokenUsage, pricing: Pricing | undefined): number {
  if (pricing === undefined) return 0;
  return (usage.inputTokens * pricing.inputPrice + usage.outputTokens * pricing.outputPrice) / MILLION;
}
