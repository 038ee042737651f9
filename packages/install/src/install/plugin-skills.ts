/**
 * Where a plugin says its skills are: `plugin.json` of the Agent Plugins standard, `.claude-plugin/plugin.json`, and
 * `.claude-plugin/marketplace.json` if its plugins are in the same source. Other parts of plugins are not installed.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { checkContainedPath, readBounded, showPath } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import { type JsonFields, parseJsonObject } from "./json-object.ts";

/** Every plugin's default folder for skills. */
const SKILLS = "skills";
/** Folders for other things. */
const OTHER_PLACES: readonly (readonly [path: string, part: string])[] = [
  ["agents", "agents"],
  ["commands", "commands"],
  ["hooks", "hooks"],
  ["mcp.json", "MCP servers"],
  [".mcp.json", "MCP servers"],
];

/** `paths`: inside the folder, skills or folders of skills. Empty if no plugin says where. */
export function findPluginSkills(folder: string): {
  readonly paths: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const diagnostics: Diagnostic[] = [];
  const plugins = readPlugins(folder, (path, message) => {
    diagnostics.push({ code: "plugin.unclear", severity: "warning", path, message });
  });
  const paths = new Set<string>();
  for (const plugin of plugins) {
    const root = join(folder, plugin.folder);
    const places = [...plugin.skills, SKILLS].filter((place) => isThere(join(root, place)));
    for (const place of places) paths.add(join(plugin.folder, place).replace(/^\.$/, ""));
    const more = describeOthers(plugin, root);
    if (places.length > 0 && more !== undefined) diagnostics.push(more);
  }
  return { paths: [...paths].sort(), diagnostics };
}

function describeOthers({ name, parts }: ListedPlugin, root: string): Diagnostic | undefined {
  const found = OTHER_PLACES.filter(([path]) => isThere(join(root, path))).map(([, part]) => part);
  const all = [...new Set([...parts, ...found])].sort();
  if (all.length === 0) return undefined;
  return {
    code: "plugin.other-parts",
    severity: "info",
    path: root,
    message: `The plugin ${showPath(name)} also contains ${all.join(", ")}; only its skills are installed.`,
    hint: "If you need all of it, install the plugin in a client that supports plugins.",
  };
}

/** If that cannot be told, whoever reads it says why. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOTDIR"; // It would be inside a file.
  }
}

interface ListedPlugin {
  readonly name: string;
  /** Its own folder, inside the searched one; `""` is that folder. */
  readonly folder: string;
  /** The skills or folders of skills that it names, inside the plugin's folder. */
  readonly skills: readonly string[];
  /** What else it declares, such as `hooks`. */
  readonly parts: readonly string[];
}

const MAX_MANIFEST_BYTES: number = 1024 * 1024;
const MAX_PLUGINS = 500;
const STANDARD = "plugin.json";
const CLAUDE = join(".claude-plugin", "plugin.json");
const MARKETPLACE = join(".claude-plugin", "marketplace.json");

/** Fields for things other than skills. */
const PARTS: readonly (readonly [field: string, part: string])[] = [
  ["agents", "agents"],
  ["commands", "commands"],
  ["hooks", "hooks"],
  ["mcpServers", "MCP servers"],
  ["lspServers", "language servers"],
  ["outputStyles", "output styles"],
];

/**
 * A marketplace names its plugins; a plugin's own manifest counts only without a marketplace. `report`: gets a sentence
 * for what cannot be followed.
 */
function readPlugins(
  folder: string,
  report: (file: string, message: string) => void,
): readonly ListedPlugin[] {
  const read = (name: string): JsonFields | undefined => {
    const file = join(folder, name);
    const outcome = readJsonObject(file);
    if (typeof outcome !== "string") return outcome;
    report(file, outcome);
    return undefined;
  };
  const marketplace = read(MARKETPLACE);
  const listed = Array.isArray(marketplace?.plugins) ? marketplace.plugins : [];
  const plugins = listed.slice(0, MAX_PLUGINS).flatMap((entry: unknown) => {
    const plugin = readListed(entry);
    if (typeof plugin !== "string") return [plugin];
    report(join(folder, MARKETPLACE), plugin);
    return [];
  });
  if (plugins.length > 0) return plugins;
  const own = read(CLAUDE) ?? read(STANDARD);
  return own === undefined ? [] : readOwn(own);
}

/** `undefined` if there is none; a sentence if it cannot be read. */
function readJsonObject(file: string): JsonFields | string | undefined {
  if (!isThere(file)) return undefined;
  const read = readBounded(file, MAX_MANIFEST_BYTES);
  if (!read.ok) return read.message;
  return (
    parseJsonObject(read.text) ?? "It is not a JSON object, so skills are searched in the usual folders."
  );
}

/** Other programs also have a `plugin.json`; without a name it is not one of these. */
function readOwn(fields: JsonFields): readonly ListedPlugin[] {
  if (typeof fields.name !== "string" || fields.name === "") return [];
  return [{ name: fields.name, folder: "", skills: readPaths(fields.skills), parts: partsOf(fields) }];
}

/** A sentence for an entry that points elsewhere. */
function readListed(entry: unknown): ListedPlugin | string {
  if (!isJsonObject(entry) || typeof entry.name !== "string") return "It lists a plugin without a name.";
  const folder = typeof entry.source === "string" ? readPath(entry.source) : undefined;
  if (folder === undefined) {
    return `The plugin \`${entry.name.slice(0, 100)}\` is in another source, which is not fetched.`;
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

/** `./skills/` as `skills`, `./` as `""`; `undefined` for a path that leads out, or a URL. */
function readPath(text: string): string | undefined {
  const trimmed = text.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
  if (trimmed === "" || trimmed === ".") return "";
  const checked = checkContainedPath(trimmed);
  return checked.ok && !/^[a-z+]+:/i.test(trimmed) ? checked.path : undefined;
}
