/** Where the plugins of a folder have their skills, and what else they bring: only skills are installed. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { showPath } from "../../host/contained-path.ts";
import { type PluginManifest, readPlugins } from "./plugin-manifest.ts";

export interface PluginSkills {
  /** Below the folder; a skill, or a folder of skills. Empty when no plugin says where. */
  readonly paths: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The place that every plugin has for skills. */
const SKILLS = "skills";
/** Places for other things. */
const OTHER_PLACES: readonly (readonly [path: string, part: string])[] = [
  ["agents", "agents"],
  ["commands", "commands"],
  ["hooks", "hooks"],
  ["mcp.json", "MCP servers"],
  [".mcp.json", "MCP servers"],
];

export function findPluginSkills(folder: string): PluginSkills {
  const { plugins, faults } = readPlugins(folder);
  const diagnostics: Diagnostic[] = faults.map(({ file, message }) => ({
    code: "plugin.unclear",
    severity: "warning",
    path: file,
    message,
  }));
  const paths = new Set<string>();
  for (const plugin of plugins) {
    const root = join(folder, plugin.folder);
    const places = [...plugin.skills, SKILLS].filter((place) => exists(join(root, place)));
    for (const place of places) paths.add(join(plugin.folder, place).replace(/^\.$/, ""));
    const more = describeOthers(plugin, root);
    if (places.length > 0 && more !== undefined) diagnostics.push(more);
  }
  return { paths: [...paths].sort(), diagnostics };
}

function describeOthers({ name, parts }: PluginManifest, root: string): Diagnostic | undefined {
  const found = OTHER_PLACES.filter(([path]) => exists(join(root, path))).map(([, part]) => part);
  const all = [...new Set([...parts, ...found])].sort();
  if (all.length === 0) return undefined;
  return {
    code: "plugin.other-parts",
    severity: "info",
    path: root,
    message: `The plugin ${showPath(name)} also brings ${all.join(", ")}; only its skills are installed.`,
    hint: "Install the plugin in a client for plugins if you need all of it.",
  };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
