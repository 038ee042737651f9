/**
 * `metier pack`: turns skills into a plugin of the Agent Plugins standard (1.0.0), with their MCP servers; a folder, or
 * an archive with the same bytes on every machine.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { makeOwnedName, removeFolder, replaceFile, tryToRemove } from "@metier/base/files";
import { done, type Result } from "@metier/base/result";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { compareText } from "@metier/base/text";
import type { Profile } from "@metier/skills";
import { outcomeOf } from "../install/install-fault.ts";
import { SOURCE_LIMITS } from "../install/source-limits.ts";
import { createTreeWriter } from "../install/tree-writer.ts";
import type { PublishingHost, PublishProgress } from "./find-asked.ts";
import {
  buildPluginManifest,
  type PluginFields,
  type PluginManifest,
  readMcpConfig,
} from "./plugin-manifest.ts";
import {
  type NotPublished,
  type PackedSkill,
  type PublishFault,
  type PublishRefusal,
  prepareSkills,
  refusePublish,
} from "./prepare-skills.ts";
import { readStaged, type TarEntry, withStage, writeGzip, writeTar } from "./stage-skill.ts";

/** Which skills to pack, where to, and the plugin's metadata. */
export interface PackOptions extends PluginFields {
  /** Names and paths of skills; default: all in the working directory. */
  readonly skills?: readonly string[];
  /** A folder, or a file that ends in `.tar.gz` or `.tgz`. */
  readonly output: string;
  /** A `plugin.json` to start from; fields given here override its own. */
  readonly manifestFile?: string | undefined;
  /** A file with `mcpServers`, which becomes the plugin's `mcp.json`. */
  readonly mcpFile?: string | undefined;
  /** How strict the check is. Default: `strict`, exactly the specification. */
  readonly profile?: Profile | undefined;
  /** For relative paths. Default: the process's. */
  readonly cwd?: string;
  /** Replaces a plugin in the output folder. */
  readonly force?: boolean;
  /** Called before each skill, with the progress. */
  onProgress?(step: PublishProgress): unknown;
}

/** The plugin that was written. */
export interface PackReport {
  /** Distinguishes it from a refusal. */
  readonly ok: true;
  /** The folder or archive, absolute. */
  readonly path: string;
  /** The content of its `plugin.json`. */
  readonly plugin: PluginManifest;
  /** Sorted by name. */
  readonly skills: readonly PackedSkill[];
  /** Names of the MCP servers. */
  readonly servers: readonly string[];
  /** Warnings and notes about the skills. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The written plugin, or why there is none. */
export type PackOutcome = PackReport | PublishRefusal;

const OPTIONS: OptionKeys<PackOptions> = {
  skills: true,
  onProgress: true,
  output: true,
  manifestFile: true,
  mcpFile: true,
  profile: true,
  cwd: true,
  force: true,
  name: true,
  version: true,
  description: true,
  author: true,
  homepage: true,
  repository: true,
  license: true,
  keywords: true,
  extensions: true,
};

/** Nothing is written unless every skill may be published. */
export async function packPlugin(
  metier: Pick<PublishingHost, "config" | "require">,
  options: PackOptions,
): Promise<PackOutcome> {
  checkKeys("packPlugin", options ?? null, OPTIONS);
  return outcomeOf(await withStage((stage) => pack(metier, options, stage)));
}

async function pack(
  metier: Pick<PublishingHost, "config" | "require">,
  options: PackOptions,
  stage: string,
): Promise<Result<Omit<PackReport, "ok">, PublishFault>> {
  const { manifestFile, mcpFile, force = false } = options;
  const cwd = resolve(options.cwd ?? process.cwd());
  const path = resolve(cwd, options.output);
  const prepared = await prepareSkills(metier, options, { cwd, output: path, stage });
  if (!prepared.ok) return prepared;
  const { skills, diagnostics } = prepared.value;
  const start = manifestFile === undefined ? undefined : resolve(cwd, manifestFile);
  const built = await buildPluginManifest(pickFields(options), start, skills);
  if (!built.ok) return built;
  const plugin = built.value;
  const mcp = mcpFile === undefined ? done(undefined) : await readMcpConfig(resolve(cwd, mcpFile));
  if (!mcp.ok) {
    const hint = "Agent Plugins 1.0.0 defines what a server may have.";
    return refusePublish("publish.usage", mcp.refusal.message, hint);
  }
  const entries = [
    textEntry("plugin.json", `${JSON.stringify(plugin, undefined, 2)}\n`),
    ...(mcp.value ? [textEntry("mcp.json", mcp.value.text)] : []),
    // A skill's folder has the skill's name, as the standard requires.
    ...skills.flatMap(({ name, folder }) =>
      readStaged(folder).map((entry) => ({ ...entry, path: `skills/${name}/${entry.path}` })),
    ),
  ].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const fault = await writePlugin(path, plugin.name, entries, force);
  if (fault !== undefined) return fault;
  return done({
    path,
    plugin,
    skills: skills.map(({ name, identity, leftOut, findings, unscanned }) => {
      return { name, identity, leftOut, findings, unscanned };
    }),
    servers: [...(mcp.value?.servers ?? [])].sort(compareText),
    diagnostics,
  });
}

function pickFields(options: PackOptions): PluginFields {
  const { name, version, description, author, homepage, repository, license, keywords, extensions } = options;
  return { name, version, description, author, homepage, repository, license, keywords, extensions };
}

function textEntry(path: string, text: string): TarEntry {
  return { kind: "file", path, executable: false, bytes: Buffer.from(text) };
}

const ARCHIVE = /\.(?:tar\.gz|tgz)$/i;
const OTHER_ARCHIVE = /\.(?:zip|tar|tar\.\w+|7z|rar)$/i;

/** `entries` by path, inside the plugin's root. Returns `undefined` when written. */
async function writePlugin(
  target: string,
  name: string,
  entries: readonly TarEntry[],
  force: boolean,
): Promise<NotPublished | undefined> {
  if (ARCHIVE.test(target)) return writeArchive(target, name, entries);
  if (OTHER_ARCHIVE.test(target)) {
    return refusePublish(
      "publish.usage",
      `\`${basename(target)}\` has an unsupported archive extension.`,
      "Name a file that ends in `.tar.gz` or `.tgz`, or a folder.",
    );
  }
  return writeFolder(target, entries, force);
}

async function writeArchive(
  target: string,
  name: string,
  entries: readonly TarEntry[],
): Promise<NotPublished | undefined> {
  if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) {
    const hint = "Choose another name for the archive.";
    return refusePublish("publish.taken", `\`${target}\` is a folder.`, hint);
  }
  mkdirSync(dirname(target), { recursive: true });
  const inFolder = entries.map((entry) => ({ ...entry, path: `${name}/${entry.path}` }));
  replaceFile(target, await writeGzip(writeTar(inFolder)), { mode: 0o644 });
  return undefined;
}

/** Created next to its path and moved there as a whole. */
function writeFolder(target: string, entries: readonly TarEntry[], force: boolean): NotPublished | undefined {
  const isThere = lstatSync(target, { throwIfNoEntry: false }) !== undefined;
  const fault = isThere ? refuseReplacing(target, force) : undefined;
  if (fault !== undefined) return fault;
  mkdirSync(dirname(target), { recursive: true });
  const fresh = join(dirname(target), makeOwnedName({ prefix: `.${basename(target)}.` }));
  const aside = `${fresh}.old`;
  try {
    mkdirSync(fresh);
    const writer = createTreeWriter(fresh, SOURCE_LIMITS);
    for (const entry of entries) {
      if (entry.kind === "link") writer.addLink(entry.path, entry.target);
      else writer.addBytes(entry.path, entry.executable, entry.bytes);
    }
    writer.finish();
    if (isThere) renameSync(target, aside);
    renameSync(fresh, target);
  } finally {
    if (existsSync(aside) && !existsSync(target)) renameSync(aside, target);
    removeFolder(fresh);
    tryToRemove(aside);
  }
  return undefined;
}

/** An empty folder, or with `force` an older plugin. */
function refuseReplacing(target: string, force: boolean): NotPublished | undefined {
  const isFolder = lstatSync(target).isDirectory();
  if (isFolder && readdirSync(target).length === 0) return undefined;
  const isPlugin =
    isFolder && lstatSync(join(target, "plugin.json"), { throwIfNoEntry: false })?.isFile() === true;
  if (isPlugin && force) return undefined;
  return refusePublish(
    "publish.taken",
    `\`${target}\` already exists${isPlugin ? "" : ", and is not a plugin"}.`,
    isPlugin ? "Replace the plugin with `--force`." : "Choose another folder, or remove it first.",
  );
}
