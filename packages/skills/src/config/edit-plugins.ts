/**
 * Updates the `skills.plugins` list of a config file for commands. Entries keep their spelling, comments stay, and
 * existing content is not rewritten. Throws `ConfigError` like all edits.
 */
import { ConfigError } from "@metier/base/errors";
import { toKebabCase } from "@metier/base/text";
import type { PluginEntry } from "./config.ts";
import { editConfigFile } from "./edit-config.ts";
import { PLUGIN_SOURCES, pluginName, readPluginKey } from "./skill-fields.ts";
import { isTable } from "./value-types.ts";

const PLUGINS_KEY = ["skills", "plugins"];

/** An entry as in a file: an address, or a table. */
type WrittenPlugin = unknown;

/** What an address and a reference mean, in any spelling. */
export type PluginMeaning = (source: Pick<PluginEntry, "url" | "ref">) => string;

/** An entry with the same name gets the new address and reference if they mean something else; the rest stays. */
export async function addPlugins(
  file: string,
  entries: readonly PluginEntry[],
  meaning: PluginMeaning,
): Promise<boolean> {
  return editConfigFile(file, PLUGINS_KEY, (current) =>
    entries.reduce((all, entry) => addPlugin(all, entry, meaning), toEntries(current, file)),
  );
}

/** Returns whether the file changed, like the others. */
export async function removePlugins(
  file: string,
  isRemoved: (entry: Pick<PluginEntry, "url" | "name">) => boolean,
): Promise<boolean> {
  return editConfigFile(file, PLUGINS_KEY, (current) => {
    const entries = toEntries(current, file);
    const left = entries.filter((written) => !isRemoved(readWritten(written)));
    if (left.length === entries.length) return current;
    return left.length === 0 ? undefined : left;
  });
}

/** Only if an entry says otherwise: by default an entry is enabled. */
export async function enablePlugin(file: string, name: string, enabled: boolean): Promise<boolean> {
  return editConfigFile(file, PLUGINS_KEY, (current) => {
    const isMeant = (written: WrittenPlugin): boolean =>
      pluginName(readWritten(written)) === name && (readPluginKey(written, "enabled") !== false) !== enabled;
    const entries = toEntries(current, file);
    if (!entries.some(isMeant)) return current;
    return entries.map((written) => (isMeant(written) ? withKeys(written, { enabled }) : written));
  });
}

function addPlugin(
  entries: readonly WrittenPlugin[],
  entry: PluginEntry,
  meaning: PluginMeaning,
): readonly WrittenPlugin[] {
  const { url, ref, name, enabled, installedAt } = entry;
  const called = pluginName(entry);
  const at = entries.findIndex((written) => pluginName(readWritten(written)) === called);
  if (at === -1) {
    return [...entries, withKeys({}, { url, ref, name, enabled, "installed-at": installedAt })];
  }
  const there = entries[at];
  return meaning(readWritten(there)) === meaning(entry)
    ? entries
    : entries.with(at, withKeys(there, { repo: undefined, path: undefined, url, ref }));
}

function readWritten(written: WrittenPlugin): Pick<PluginEntry, "url" | "ref" | "name"> {
  const [url] = PLUGIN_SOURCES.map((key) => readPluginKey(written, key)).filter((text) => text !== undefined);
  return { url: String(url ?? ""), ref: textAt(written, "ref"), name: textAt(written, "name") };
}

function textAt(written: WrittenPlugin, key: string): string | undefined {
  const value = readPluginKey(written, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Keys keep their spelling and position; a bare address becomes a table; keys without a value are removed. */
function withKeys(written: WrittenPlugin, keys: Readonly<Record<string, unknown>>): WrittenPlugin {
  const table = isTable(written) ? written : { url: written };
  const spellings = new Map(Object.keys(table).map((key) => [toKebabCase(key), key]));
  const given = Object.entries(keys).map(([key, value]) => [spellings.get(key) ?? key, value]);
  const merged = { ...table, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}

function toEntries(current: unknown, file: string): readonly WrittenPlugin[] {
  if (current === undefined || current === null) return [];
  if (Array.isArray(current)) return current;
  const message = `\`skills.plugins\` in \`${file}\` is not a list.`;
  throw new ConfigError(message, file, { hint: "Make it a list, or remove it; nothing was changed." });
}
