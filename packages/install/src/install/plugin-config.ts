/**
 * The key `skills.plugins` in the user's config, in which other systems record what they installed. The lock decides
 * what is installed here; the key is kept up to date for its readers, and says what to install on a new machine.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { MetierError } from "@metier/base/errors";
import type { Places } from "@metier/base/places";
import {
  addPlugins,
  type PluginEntry,
  type PluginMeaning,
  pluginName,
  removePlugins,
} from "@metier/skills/config";
import { readLock } from "@metier/skills/formats";
import { calledAs, type Lock, type LockEntry, type LockFile, userLockFile } from "@metier/skills/trust";
import { moveGit } from "./addresses/address-parts.ts";
import { isSameOrigin, parseSourceAddress, type SourceAddress } from "./addresses/source-address.ts";
import type { InstallDecisions, InstallRequest, SkippedSkill } from "./requests.ts";

export interface PluginConfig {
  /** The user's config file, which is edited. */
  readonly file: string;
  readonly entries: readonly PluginEntry[];
  /** Whether there is an installed skill of that name, even from another system. */
  isThere(name: string): boolean;
}

interface PluginParts {
  readonly places: Pick<Places, "home" | "lockFile">;
  /** Absent: no config is read or updated. */
  readonly plugins?: PluginConfig;
}

/** `isWhole`: they are all skills of their source, so one entry stands for them. */
export async function trackInstalled(
  entries: readonly LockEntry[],
  isWhole: boolean,
  lockFile: LockFile,
  { plugins, places }: PluginParts,
): Promise<readonly Diagnostic[]> {
  const installedAt = new Date().toISOString(); // In the user's own config, which nobody merges.
  const isTogether = isWhole && entries.length > 1;
  const tracked = (isTogether ? entries.slice(0, 1) : entries).flatMap((entry) => {
    const plugin = describePlugin(entry, places, isTogether);
    return plugin ? [{ ...plugin, installedAt }] : [];
  });
  if (plugins === undefined || lockFile.owner !== "user" || tracked.length === 0) return [];
  const meaning: PluginMeaning = (source) => parsePlugin(source, places)?.canonical ?? source.url;
  return attemptEdit(plugins.file, () => addPlugins(plugins.file, tracked, meaning));
}

/** As in the config; `undefined` if it is not from a repository. */
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
    ref,
    name: isWhole ? undefined : calledAs(entry),
    enabled: true,
    installedAt,
  };
}

/** `left` are the entries still in the lock. */
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

/** Enabled entries with nothing installed. */
export function missingPlugins({ plugins, places }: PluginParts): readonly PluginEntry[] {
  if (plugins === undefined || plugins.entries.length === 0) return [];
  const read = readLock(userLockFile(places));
  if (!read.ok) return [];
  return plugins.entries.filter(
    (plugin) => plugin.enabled && !isInstalled(plugin, read.value, plugins, places),
  );
}

/** `where`: the file that lists them, which under a preset may be another system's. */
export function reportMissingPlugins(
  parts: PluginParts,
  where: Pick<Diagnostic, "path" | "line">,
): readonly Diagnostic[] {
  return missingPlugins(parts).map((plugin) => ({
    code: "config.plugin-missing",
    severity: "warning",
    ...where,
    message: `\`skills.plugins\` names \`${pluginName(plugin)}\` from \`${plugin.url}\`, which is not installed.`,
    hint: "Install it with `metier install`, or remove the entry, or set `enabled = false` on it.",
  }));
}

/** How an entry is installed: its only skill under the entry's name, of several the one with that name, or all. */
export function pluginRequest(
  { url, ref, name }: PluginEntry,
  request: InstallRequest,
): { readonly request: InstallRequest; readonly choose: Required<InstallDecisions>["choose"] } {
  return {
    request: { ...request, source: url, ref, name },
    choose: async (skills) =>
      skills.filter((skill) => name === undefined || skill.name === name).map(({ path }) => path),
  };
}

export function refuseFrozenPlugin(plugin: PluginEntry): SkippedSkill {
  return {
    name: pluginName(plugin),
    code: "install.differs",
    reason: `\`skills.plugins\` in your config names \`${plugin.url}\`, but the lock does not list it.`,
    hint: "Run `metier install` without `--frozen`, or remove the entry.",
  };
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
  return isSameOrigin({ ...entry, path: isWhole ? "" : entry.path }, address, isWhole ? "" : address.path, {
    cwd: places.home,
    home: places.home,
  });
}

function parsePlugin(
  { url, ref }: Pick<PluginEntry, "url" | "ref">,
  { home }: PluginParts["places"],
): SourceAddress | undefined {
  const parsed = parseSourceAddress(url, { cwd: home, home, ref });
  return parsed.ok ? parsed.value : undefined;
}

/** What is installed stays; the user can fix the config, or what the system says of it. */
async function attemptEdit(file: string, edit: () => Promise<unknown>): Promise<readonly Diagnostic[]> {
  try {
    await edit();
    return [];
  } catch (fault) {
    const told = describeEditFault(fault);
    if (told === undefined) throw fault;
    const message = `\`skills.plugins\` could not be updated. ${told.message}`;
    return [{ code: "install.unfinished", severity: "warning", path: file, message, hint: told.hint }];
  }
}

/** `undefined`: a fault of this program. */
function describeEditFault(fault: unknown): Required<Pick<Diagnostic, "message" | "hint">> | undefined {
  if (fault instanceof MetierError) {
    return { message: fault.message, hint: fault.hint ?? "Make the file writable." };
  }
  if (!(fault instanceof Error && "syscall" in fault)) return undefined;
  return { message: `${fault.message}.`, hint: "Make the file and its folder readable and writable." };
}
