/** What `metier config` and `metier config --explain` show: every value, where it came from, what it replaced. */
import type { LoadedConfig, Origin } from "./config.ts";

export interface ConfigRow {
  readonly key: string;
  /** Secrets are already redacted. */
  readonly value: unknown;
  /** `user file /home/me/.metier/config.toml:12` */
  readonly origin: string;
  /** The value is the stricter combination of this layer and the one below. */
  readonly tightens: boolean;
  /** The one it replaced last first. */
  readonly overridden: readonly { readonly value: unknown; readonly origin: string }[];
}

/** In the order of the table of keys. */
export function explainConfig({ origins }: Pick<LoadedConfig, "origins">): readonly ConfigRow[] {
  return [...origins].map(([key, { value, tightens, overridden, ...origin }]) => ({
    key,
    value,
    origin: formatOrigin(origin),
    tightens,
    overridden: overridden.map((lower) => ({ value: lower.value, origin: formatOrigin(lower.origin) })),
  }));
}

const LAYER_WORDS: Readonly<Record<Origin["layer"], string>> = {
  default: "default",
  preset: "preset",
  user: "user file",
  project: "project file",
  environment: "environment",
  option: "option",
  policy: "policy",
};

export function formatOrigin({ layer, where, line }: Origin): string {
  if (layer === "option" && where) return where; // It says itself which option it is.
  const place = line === undefined ? where : `${where}:${line}`;
  return [LAYER_WORDS[layer], place].filter(Boolean).join(" ");
}
