/**
 * The key `skills.plugins` of the user's config, which other systems keep beside what they installed. The lock decides what
 * is installed here; the key is kept up to date for whoever reads it, and says what is to be installed on a new machine.
 */
import type { PluginEntry } from "../config/config.ts";
import { addPlugins, type PluginMeaning, removePlugins } from "../config/edit-plugins.ts";
import { pluginName } from "../config/plugin-entry.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { MetierError } from "../foundation/errors.ts";
import type { Places } from "../host/places.ts";
import { calledAs, type Lock, type LockEntry } from "../lock/lock-entry.ts";
import { type LockFile, userLockFile } from "../lock/lock-places.ts";
import { readLock } from "../lock/lock-store.ts";
import { moveGit } from "./addresses/git-address.ts";
import type { InstallFault } from "./install-fault.ts";
import type { InstallDecisions, InstallRequest, SkippedSkill } from "./install-request.ts";
import { isSameOrigin } from "./same-origin.ts";
import { parseSourceAddress, type SourceAddress } from "./source-address.ts";

export interface PluginConfig {
  /** The user's config file, which is edited. */
  readonly file: string;
  readonly entries: readonly PluginEntry[];
  /** Whether there is an installed skill of that name, also one that another system put there. */
  isThere(name: string): boolean;
}

export interface PluginParts {
  readonly places: Pick<Places, "home" | "lockFile">;
  /** Absent: no config is read or kept. */
  readonly plugins?: PluginConfig;
}

/** `isWhole`: they are all skills of their source, so that one entry stands for them. */
export async function trackInstalled(
  entries: readonly LockEntry[],
  isWhole: boolean,
  lockFile: LockFile,
  { plugins, places }: PluginParts,
): Promise<readonly Diagnostic[]> {
  const tracked = entries.flatMap(
    (entry) => describePlugin(entry, places, isWhole && entries.length > 1) ?? [],
  );
  if (plugins === undefined || lockFile.owner !== "user" || tracked.length === 0) return [];
  const meaning: PluginMeaning = (source) => parsePlugin(source, places)?.canonical ?? source.url;
  return attemptEdit(plugins.file, () => addPlugins(plugins.file, tracked, meaning));
}

/** As the config has it; `undefined` for what is not from a repository. */
export function describePlugin(
  entry: LockEntry,
  places: PluginParts["places"],
  isWhole: boolean = false,
): PluginEntry | undefined {
  const { ref, installedAt, path } = entry;
  const address = parsePlugin({ url: entry.source }, places);
  if (address?.kind !== "git") return undefined;
  return {
    url: moveGit(address, { path: isWhole ? address.path : path }).canonical,
    ...(ref !== undefined && { ref }),
    ...(!isWhole && { name: calledAs(entry) }),
    enabled: true,
    installedAt,
  };
}

/** `left` are the entries that the lock still lists. */
export async function untrackRemoved(
  removed: readonly LockEntry[],
  left: readonly LockEntry[],
  lockFile: LockFile,
  { plugins, places }: PluginParts,
): Promise<readonly Diagnostic[]> {
  if (plugins === undefined || lockFile.owner !== "user" || plugins.entries.length === 0) return [];
  return attemptEdit(plugins.file, () =>
    removePlugins(plugins.file, (plugin) => {
      const isOf = (entry: LockEntry): boolean => isSamePlugin(plugin, entry, places);
      return removed.some(isOf) && !left.some(isOf);
    }),
  );
}

/** Entries that are enabled, and of which nothing is installed. */
export function missingPlugins({ plugins, places }: PluginParts): readonly PluginEntry[] {
  if (plugins === undefined || plugins.entries.length === 0) return [];
  const read = readLock(userLockFile(places));
  if (!read.ok) return [];
  return plugins.entries.filter(
    (plugin) => plugin.enabled && !isInstalled(plugin, read.lock, plugins, places),
  );
}

export function reportMissingPlugins(parts: PluginParts): readonly Diagnostic[] {
  return missingPlugins(parts).map((plugin) => ({
    code: "config.plugin-missing",
    severity: "warning",
    path: parts.plugins?.file ?? "",
    message: `\`skills.plugins\` names \`${pluginName(plugin)}\` from \`${plugin.url}\`, which is not installed.`,
    hint: "`metier install` installs it; otherwise remove the entry, or give it `enabled = false`.",
  }));
}

/** How an entry is installed: its one skill under the entry's name, of several the one of that name, or all. */
export function pluginRequest(
  { url, ref, name }: PluginEntry,
  request: InstallRequest,
): { readonly request: InstallRequest; readonly choose: Required<InstallDecisions>["choose"] } {
  return {
    request: {
      ...request,
      source: url,
      ...(ref !== undefined && { ref }),
      ...(name !== undefined && { name }),
    },
    choose: async (skills) =>
      skills.filter((skill) => name === undefined || skill.name === name).map(({ path }) => path),
  };
}

export function refuseFrozenPlugin(plugin: PluginEntry): SkippedSkill {
  return {
    name: pluginName(plugin),
    code: "install.differs",
    reason: `\`skills.plugins\` of your config names \`${plugin.url}\`, and the lock does not list it.`,
    hint: "Run `metier install` without `--frozen`, or remove the entry.",
  };
}

export function skipPlugin(plugin: PluginEntry, { code, message, hint }: InstallFault): SkippedSkill {
  return { name: pluginName(plugin), code, reason: message, hint };
}

function isInstalled(
  plugin: PluginEntry,
  { skills }: Lock,
  { isThere }: PluginConfig,
  places: PluginParts["places"],
): boolean {
  return skills.some((entry) => isSamePlugin(plugin, entry, places)) || isThere(pluginName(plugin));
}

/** An entry with a name is the skill of that name; one without stands for every skill of its source. */
function isSamePlugin(
  plugin: Pick<PluginEntry, "url" | "name">,
  entry: LockEntry,
  places: PluginParts["places"],
): boolean {
  if (plugin.name !== undefined) return plugin.name === calledAs(entry);
  const address = parsePlugin(plugin, places);
  if (address === undefined) return false;
  const isWhole = !("path" in address) || address.path === "" || address.kind === "folder";
  return isSameOrigin({ ...entry, ...(isWhole && { path: "" }) }, address, isWhole ? "" : address.path, {
    cwd: places.home,
    home: places.home,
  });
}

function parsePlugin(
  { url, ref }: Pick<PluginEntry, "url" | "ref">,
  { home }: PluginParts["places"],
): SourceAddress | undefined {
  const parsed = parseSourceAddress(url, { cwd: home, home, ...(ref !== undefined && { ref }) });
  return parsed.ok ? parsed.address : undefined;
}

/** What is installed stays so; the config can be put right by hand. */
async function attemptEdit(file: string, edit: () => Promise<unknown>): Promise<readonly Diagnostic[]> {
  try {
    await edit();
    return [];
  } catch (fault) {
    if (!(fault instanceof MetierError)) throw fault;
    const message = `\`skills.plugins\` was not kept up to date. ${fault.message}`;
    const hint = fault.hint ?? "Make the file writable.";
    return [{ code: "install.unfinished", severity: "warning", path: file, message, hint }];
  }
}
