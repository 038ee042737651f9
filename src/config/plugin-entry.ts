/** The entries of `skills.plugins`, as other systems write them: what names their source, and what they are called. */
import { toKebabCase } from "../foundation/spelling.ts";
import { normaliseSkillName } from "../skill/skill-name.ts";
import type { PluginEntry } from "./config.ts";

/** Exactly one of them is in an entry. */
export const PLUGIN_SOURCES = ["url", "repo", "path"] as const;

/** The name the entry gives, or that of its repository: `https://example.com/user/my-skill.git` is `my-skill`. */
export function pluginName({ name, url }: Pick<PluginEntry, "name" | "url">): string {
  if (name !== undefined) return name;
  const [address = ""] = url.split(/[?#]/, 1);
  const last = address.split(/[/:\\]/).findLast((part) => part !== "") ?? "";
  return normaliseSkillName(last.replace(/\.git$/i, ""));
}

/** The value of a key of an entry as it is written, in any spelling; an entry may be just an address. */
export function readPluginKey(written: unknown, key: string): unknown {
  if (typeof written === "string") return key === "url" ? written : undefined;
  const entries = Object.entries(typeof written === "object" && written !== null ? written : {});
  return entries.find(([name]) => toKebabCase(name) === key)?.[1];
}
