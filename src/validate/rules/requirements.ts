/**
 * What the machine must have, gathered from every place where skills say it: `requires`, `metadata.requires`
 * and the `requires` of the dialects that keep theirs in a namespace below `metadata`.
 */
import type { Json, SkillRequirements } from "../../skill/manifest.ts";
import { splitLine } from "../coerce-list.ts";
import { isMap, type JsonMap } from "../json-kinds.ts";
import { findGiven } from "../read-fields.ts";
import type { Rule } from "../rule.ts";

const NAMESPACES = ["openclaw", "clawdbot", "moltbot"];

const PLATFORMS: ReadonlyMap<string, string> = new Map([
  ["macos", "darwin"],
  ["mac", "darwin"],
  ["osx", "darwin"],
  ["windows", "win32"],
]);

export const requirementsRule: Rule = {
  codes: [],
  fields: ["requires", "metadata"],
  check({ draft, fields }) {
    const { metadata } = draft;
    const hasNamespace = NAMESPACES.some((name) => isMap(metadata[name]));
    const isGiven = metadata.requires !== undefined || findGiven(fields.known, "requires") !== undefined;
    if (!hasNamespace && !isGiven) return;
    const namespaces = NAMESPACES.map((name) => metadata[name]).filter(isMap);
    const found = [draft.requires, readRequires(metadata.requires), ...namespaces.map(readNamespace)];
    draft.requires = {
      bins: join(found.map((each) => each.bins)),
      anyBins: join(found.map((each) => each.anyBins)),
      env: join(found.map((each) => each.env)),
      os: join(found.map((each) => each.os.map(platformOf))),
    };
  },
};

function readNamespace(namespace: JsonMap): SkillRequirements {
  const requires = readRequires(namespace.requires);
  return { ...requires, os: [...requires.os, ...words(namespace.os)] };
}

/** A line or list of commands, or a map. */
function readRequires(value: Json | undefined): SkillRequirements {
  const map: JsonMap = isMap(value) ? value : { bins: value ?? null };
  const anyBins = words(map.anyBins ?? map.any_bins ?? map["any-bins"]);
  return { bins: words(map.bins), anyBins, env: words(map.env), os: words(map.os) };
}

function words(value: Json | undefined): readonly string[] {
  if (typeof value === "string") return splitLine(value, "words");
  if (!Array.isArray(value)) return [];
  return value.filter((item: Json) => typeof item === "string" && item.trim() !== "");
}

function platformOf(name: string): string {
  const lower = name.toLowerCase();
  return PLATFORMS.get(lower) ?? lower;
}

function join(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}
