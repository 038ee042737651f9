/**
 * The names that work without configuration, as data: what `opus` or `fast` stands for at each provider, in the order
 * in which providers are tried. A `[models.<alias>]` table in the user's config always wins.
 */
import type { ModelProvider } from "@metier/skills/config";

interface AliasChoice {
  readonly provider: ModelProvider;
  readonly model: string;
}

export const BUILT_IN_ALIASES: Readonly<Record<string, readonly AliasChoice[]>> = {
  opus: [{ provider: "anthropic", model: "claude-opus-5-5" }],
  sonnet: [{ provider: "anthropic", model: "claude-sonnet-5-5" }],
  haiku: [{ provider: "anthropic", model: "claude-haiku-5-5" }],
  gpt: [{ provider: "openai", model: "gpt-6-astra" }],
  gemini: [{ provider: "google", model: "gemini-3.8-flash" }],
  fast: [
    { provider: "anthropic", model: "claude-haiku-5-5" },
    { provider: "openai", model: "gpt-6-luna" },
    { provider: "google", model: "gemini-3.8-flash" },
  ],
  smart: [
    { provider: "anthropic", model: "claude-opus-5-5" },
    { provider: "openai", model: "gpt-6-astra" },
    { provider: "google", model: "gemini-4-argon" },
  ],
};

/** Whether a model's name contains the alias as a word: `claude-opus-4-1` contains `opus`. */
export function isNamedAfter(alias: string, model: string | undefined): boolean {
  return (
    model
      ?.toLowerCase()
      .split(/[^a-z]+/)
      .includes(alias) ?? false
  );
}
