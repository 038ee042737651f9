/** A skill's `effort` in the words of the AI SDK; what is none of them leaves it to the provider. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";

export type Reasoning = NonNullable<LanguageModelV4CallOptions["reasoning"]>;

const EFFORTS: Readonly<Record<string, Reasoning>> = {
  none: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

export function readEffort(effort: string | undefined): Reasoning | undefined {
  const word = effort?.trim().toLowerCase() ?? "";
  return Object.hasOwn(EFFORTS, word) ? EFFORTS[word] : undefined;
}
