/**
 * What the manifests of plugins say about where skills are: `plugin.json` of the Agent Plugins standard,
 * `.claude-plugin/plugin.json`, and `.claude-plugin/marketplace.json` as far as its plugins lie in the same source.
 * Reads text; whether the places exist is for the search to see.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { checkContainedPath } from "../../host/contained-path.ts";
import { readBounded } from "../../host/read-bounded.ts";
import { isJsonObject, type JsonFields, parseJsonObject } from "../json-object.ts";

export interface PluginManifest {
  readonly name: string;
  /** Its own folder, below the one that was looked at; `""` is that folder. */
  readonly folder: string;
  /** Folders of skills, or skills, below the plugin's folder, that it names itself. */
  readonly skills: readonly string[];
  /** What else it brings by its own word, as `hooks`. */
  readonly parts: readonly string[];
}

export interface PluginReading {
  readonly plugins: readonly PluginManifest[];
  /** What a manifest says that cannot be followed, in sentences. */
  readonly faults: readonly { readonly file: string; readonly message: string }[];
}

const MAX_MANIFEST_BYTES: number = 1024 * 1024;
const MAX_PLUGINS = 500;
const STANDARD = "plugin.json";
const CLAUDE = join(".claude-plugin", "plugin.json");
const MARKETPLACE = join(".claude-plugin", "marketplace.json");

/** Fields that stand for something other than skills. */
const PARTS: readonly (readonly [field: string, part: string])[] = [
  ["agents", "agents"],
  ["commands", "commands"],
  ["hooks", "hooks"],
  ["mcpServers", "MCP servers"],
  ["lspServers", "language servers"],
  ["outputStyles", "output styles"],
];

/** A marketplace names its plugins; a plugin's own manifest counts where there is no marketplace. */
export function readPlugins(folder: string): PluginReading {
  const faults: { file: string; message: string }[] = [];
  const read = (name: string): JsonFields | undefined => {
    const file = join(folder, name);
    const outcome = readJsonObject(file);
    if (typeof outcome === "string") faults.push({ file, message: outcome });
    return typeof outcome === "string" ? undefined : outcome;
  };
  const marketplace = read(MARKETPLACE);
  const listed = Array.isArray(marketplace?.plugins) ? marketplace.plugins : [];
  const plugins = listed.slice(0, MAX_PLUGINS).flatMap((entry: unknown) => {
    const plugin = readListed(entry);
    if (typeof plugin !== "string") return [plugin];
    faults.push({ file: join(folder, MARKETPLACE), message: plugin });
    return [];
  });
  if (plugins.length > 0) return { plugins, faults };
  const own = read(CLAUDE) ?? read(STANDARD);
  return { plugins: own === undefined ? [] : readOwn(own), faults };
}

/** `undefined` when there is none; a sentence when it cannot be read. */
function readJsonObject(file: string): JsonFields | string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const read = readBounded(file, MAX_MANIFEST_BYTES);
  if (!read.ok) return read.message;
  return (
    parseJsonObject(read.text) ?? "It holds no JSON object, so skills are looked for in the usual places."
  );
}

/** Other programs have a `plugin.json` too; without a name it is none of these. */
function readOwn(fields: JsonFields): readonly PluginManifest[] {
  if (typeof fields.name !== "string" || fields.name === "") return [];
  return [{ name: fields.name, folder: "", skills: readPaths(fields.skills), parts: partsOf(fields) }];
}

/** A sentence for an entry that leads somewhere else. */
function readListed(entry: unknown): PluginManifest | string {
  if (!isJsonObject(entry) || typeof entry.name !== "string") return "A plugin in it has no name.";
  const folder = typeof entry.source === "string" ? readPath(entry.source) : undefined;
  if (folder === undefined) {
    return `The plugin \`${entry.name.slice(0, 100)}\` lies in another source, which is not fetched.`;
  }
  return { name: entry.name, folder, skills: readPaths(entry.skills), parts: partsOf(entry) };
}

function partsOf(fields: JsonFields): readonly string[] {
  return PARTS.filter(([field]) => fields[field] !== undefined).map(([, part]) => part);
}

function readPaths(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((item) => (typeof item === "string" ? (readPath(item) ?? []) : []));
}

/** `./skills/` as `skills`, `./` as `""`; `undefined` for a path that leads out, or for a URL. */
function readPath(text: string): string | undefined {
  const trimmed = text.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
  if (trimmed === "" || trimmed === ".") return "";
  const checked = checkContainedPath(trimmed);
  return checked.ok && !/^[a-z+]+:/i.test(trimmed) ? checked.path : undefined;
}
