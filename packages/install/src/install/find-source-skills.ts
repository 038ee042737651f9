/**
 * The skills of a fetched source: found by the same search as anywhere, checked by the same rules, identified by
 * content. What is wrong with one is said beside it; it is for the installer to choose and to refuse. Where a plugin says
 * that its skills are, they are looked for: by `plugin.json` of the Agent Plugins standard, `.claude-plugin/plugin.json`, and
 * `.claude-plugin/marketplace.json` as far as its plugins lie in the same source. What else plugins bring is not installed.
 */
import { lstatSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { type Diagnostic, hasErrors } from "@metier/base/diagnostic";
import { checkContainedPath, readBounded, showPath } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import { isInside, realPathOr } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import {
  candidateForFile,
  inspectSkill,
  MAX_NAME_LENGTH,
  MAX_SKILL_BYTES,
  type Profile,
  parseSkill,
  readSkill,
  type SkillCandidate,
  type SkillManifest,
  searchRoot,
} from "@metier/skills";
import { type IdentifiedFile, identifyContent } from "@metier/skills/trust";
import type { FetchedSource } from "./fetch-source.ts";
import { type JsonFields, parseJsonObject } from "./json-object.ts";
import { checkTree } from "./source-limits.ts";

/** A skill that was found in a source, valid or not. */
export interface SourceSkill {
  /** As its manifest says, or else the name of its folder. */
  readonly name: string;
  /** Inside the source, with `/`; `""` is its root. */
  readonly path: string;
  /** Where it lies now. */
  readonly directory: string;
  /** As its manifest says. Empty for a skill that cannot be loaded. */
  readonly description: string;
  /** As its manifest says. Absent: it names none. */
  readonly version?: string | undefined;
  /** Absent for a skill that cannot be loaded. */
  readonly manifest?: SkillManifest | undefined;
  /** Of its content, `sha256:…`; `""` when it has none, and `diagnostics` say why. */
  readonly digest: string;
  /** The files that `digest` covers. Empty when there is no digest. */
  readonly files: readonly IdentifiedFile[];

  /** What is wrong with its files, or worth knowing. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether it can be installed: it has a manifest, and no diagnostic is an error. */
  readonly valid: boolean;
}

export interface SourceSkills {
  /** Sorted by name, then path. */
  readonly skills: readonly SourceSkill[];
  /** About the source, not about one skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Only folders with a `SKILL.md`: a lone `.md` file in a source is most often a page about them. `rootName`: what a
 * skill at the root of the source is called if it does not say so itself. `onFound` is told before a skill is read.
 */
export async function findSourceSkills(
  { folder, paths = [""], linked }: Pick<FetchedSource, "folder" | "paths" | "linked">,
  profile: Profile,
  rootName: string = basename(folder),
  onFound?: (directory: string) => void,
): Promise<SourceSkills> {
  const real = realPathOr(folder);
  const diagnostics: Diagnostic[] = [];
  /** By where they really lie: links lead to the same skill again. */
  const found = new Map<string, SkillCandidate>();
  for (const path of paths) {
    const plugin = findPluginSkills(join(real, path));
    diagnostics.push(...plugin.diagnostics);
    const places = plugin.paths.length > 0 ? plugin.paths : [""];
    for (const place of places) {
      const scan = searchPlace(real, join(real, path, place));
      diagnostics.push(...scan.diagnostics);
      for (const one of scan.found) {
        const candidate = candidateIn(real, one);
        if (candidate) found.set(candidate.directory, candidate);
      }
    }
  }
  for (const { directory } of found.values()) onFound?.(directory);
  const skills: SourceSkill[] = [];
  for (const candidate of found.values()) {
    const skill = await describeSkill(candidate, real, profile, rootName);
    skills.push(linked ? skill : withTreeCheck(skill));
  }
  return { skills: withoutCopies(skills, diagnostics), diagnostics };
}

type Found = ReturnType<typeof searchRoot>["found"][number];

/** As it really lies; nothing for one that is elsewhere, or no folder. */
function candidateIn(real: string, { candidate, realFile }: Found): SkillCandidate | undefined {
  const { form, directory, file } = candidate;
  const isReal = realFile === join(directory, basename(file));
  const place = isReal ? directory : realPathOr(directory);
  if (form !== "directory" || !isInside(place, real)) return undefined;
  return candidateForFile(join(place, basename(file)), "directory");
}

function searchPlace(real: string, path: string): ReturnType<typeof searchRoot> {
  const how = { scope: "installed", kind: "foreign", rank: 0, explicit: true } as const;
  return searchRoot({ ...how, path, grantFolder: path }, { knownRoots: [real], nested: false });
}

async function describeSkill(
  found: SkillCandidate,
  real: string,
  profile: Profile,
  rootName: string,
): Promise<SourceSkill> {
  const candidate = found.directory === real ? await nameRoot(found, rootName) : found;
  const { checked } = await readSkill(candidate, profile, inspectSkill);
  const { manifest, diagnostics: ofFile } = checked;
  const identified = identifyContent({ form: "directory", location: found.file, directory: found.directory });
  const diagnostics = identified.ok ? ofFile : [...ofFile, identified.refusal];
  const { digest, files } = identified.ok ? identified.value : { digest: "", files: [] };
  return {
    name: manifest?.name ?? candidate.defaultName,
    path: relative(real, found.directory).split(sep).join("/"),
    directory: found.directory,
    description: manifest?.description ?? "",
    version: manifest?.version,
    manifest,
    digest,
    files,

    diagnostics,
    valid: manifest !== undefined && !hasErrors(diagnostics),
  };
}

/** The folder of a download has a name by chance, which says nothing against the name that the skill gives itself. */
async function nameRoot(found: SkillCandidate, rootName: string): Promise<SkillCandidate> {
  const candidate = { ...found, defaultName: rootName };
  const { checked } = await readSkill(candidate, "standard");
  return { ...candidate, defaultName: checked.manifest?.name ?? rootName };
}

/** The skill's folder leaves its source: what leads out of it, or is too much for one, is found here at the latest. */
function withTreeCheck(skill: SourceSkill): SourceSkill {
  const wrong = checkTree(skill.directory).filter(({ severity }) => severity === "error");
  return wrong.length === 0
    ? skill
    : { ...skill, diagnostics: [...skill.diagnostics, ...wrong], valid: false };
}

/** Sources carry the same skill for several clients (`skills/`, `.claude/skills/`): one of them is enough. */
function withoutCopies(skills: readonly SourceSkill[], diagnostics: Diagnostic[]): readonly SourceSkill[] {
  const kept = new Map<string, SourceSkill>();
  for (const skill of skills.toSorted(comparePlaces)) {
    const key = skill.digest === "" ? skill.directory : `${skill.name} ${skill.digest}`;
    const same = kept.get(key);
    if (same === undefined) kept.set(key, skill);
    else diagnostics.push(reportCopy(skill, same));
  }
  return [...kept.values()].sort((a, b) => compareText(a.name, b.name) || comparePlaces(a, b));
}

/** Places that are not hidden first. */
function comparePlaces(a: SourceSkill, b: SourceSkill): number {
  const isHidden = ({ path }: SourceSkill): number => Number(/(?:^|\/)\./.test(path));
  return isHidden(a) - isHidden(b) || compareText(a.path, b.path);
}

function reportCopy({ name, path, directory }: SourceSkill, same: SourceSkill): Diagnostic {
  return {
    code: "source.same-skill-twice",
    severity: "info",
    path: directory,
    message: `\`${name}\` is in the source twice, byte for byte: at \`${path}\` and at \`${same.path}\`.`,
    hint: "It is installed once.",
  };
}

const MISLEADING = /[/\\]|\.\.|[\p{Cc}\p{Cf}]/u;

/**
 * A skill is installed under its own name, so that must be one. What people write (`PDF Processing`) is normalised as
 * everywhere; what reads like a path, hides characters or goes on for ever is not, since it means to be something else.
 */
export async function holdToName(skill: SourceSkill): Promise<SourceSkill> {
  const isNormalised = skill.diagnostics.some(({ code }) => code === "name.grammar");
  const written = isNormalised ? await readName(skill) : "";
  if (!MISLEADING.test(written) && [...written].length <= MAX_NAME_LENGTH) return skill;
  const diagnostics = skill.diagnostics.map((diagnostic) =>
    diagnostic.code === "name.grammar" ? { ...diagnostic, severity: "error" as const } : diagnostic,
  );
  return { ...skill, diagnostics, valid: false };
}

/** As the file has it. */
async function readName({ directory, name }: SourceSkill): Promise<string> {
  const file = join(directory, "SKILL.md");
  const read = readBounded(file, MAX_SKILL_BYTES);
  const candidate = { form: "directory", file, directory, defaultName: name } as const;
  const parsed = read.ok ? await parseSkill(candidate, read.text) : undefined;
  return String(parsed?.frontmatter?.name ?? "");
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

/** `paths`: below the folder, skills or folders of skills. None when no plugin says where. */
function findPluginSkills(folder: string): {
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
    const places = [...plugin.skills, SKILLS].filter((place) => exists(join(root, place)));
    for (const place of places) paths.add(join(plugin.folder, place).replace(/^\.$/, ""));
    const more = describeOthers(plugin, root);
    if (places.length > 0 && more !== undefined) diagnostics.push(more);
  }
  return { paths: [...paths].sort(), diagnostics };
}

function describeOthers({ name, parts }: ListedPlugin, root: string): Diagnostic | undefined {
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

interface ListedPlugin {
  readonly name: string;
  /** Its own folder, below the one that was looked at; `""` is that folder. */
  readonly folder: string;
  /** Folders of skills, or skills, below the plugin's folder, that it names itself. */
  readonly skills: readonly string[];
  /** What else it brings by its own word, as `hooks`. */
  readonly parts: readonly string[];
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

/**
 * A marketplace names its plugins; a plugin's own manifest counts where there is no marketplace. `report`: what a manifest
 * says that cannot be followed, in a sentence.
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
function readOwn(fields: JsonFields): readonly ListedPlugin[] {
  if (typeof fields.name !== "string" || fields.name === "") return [];
  return [{ name: fields.name, folder: "", skills: readPaths(fields.skills), parts: partsOf(fields) }];
}

/** A sentence for an entry that leads somewhere else. */
function readListed(entry: unknown): ListedPlugin | string {
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
