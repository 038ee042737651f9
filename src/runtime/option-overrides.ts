/** What a program says, as the topmost layer of configuration: only so does the policy hold for it too. */
import type { ConfigOverride } from "../config/load-config.ts";
import type { MetierOptions } from "./metier-options.ts";
import type { Wanted } from "./wanted.ts";

/** Lists are added to what the files say; single values replace it. */
export function optionOverrides(
  options: MetierOptions,
  { discovery, registered }: Wanted,
): readonly ConfigOverride[] {
  const { config, bundled, paths, trustedPaths, allow, deny } = options;
  const registeredPaths = registered.filter((skill) => typeof skill === "string");
  return [
    ...(config ? [{ where: "the `config` option", values: config }] : []),
    ...(typeof bundled === "boolean" ? [override("the `bundled` option", { bundled })] : []),
    ...(discovery === "asked" ? [override("`autoDiscover` or `discover()`", { "auto-discover": true })] : []),
    ...addition("the `paths` option", "paths", paths),
    ...addition("the `trustedPaths` option", "trusted-paths", trustedPaths),
    ...addition("the `allow` option", "allow", allow),
    ...addition("the `deny` option", "deny", deny),
    ...addition("`register()`", "paths", registeredPaths),
  ];
}

function override(where: string, skills: Readonly<Record<string, unknown>>): ConfigOverride {
  return { where, values: { skills } };
}

function addition(where: string, key: string, list: readonly string[] = []): readonly ConfigOverride[] {
  return list.length === 0 ? [] : [{ ...override(where, { [key]: list }), append: true }];
}
