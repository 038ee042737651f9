/**
 * Finds the skills of a fetched source with the same search, rules and content identity as everywhere. Problems are
 * reported next to each skill; the installer decides. Follows where a plugin says its skills are: `plugin.json` of the
 * Agent Plugins standard, `.claude-plugin/plugin.json`, and `.claude-plugin/marketplace.json` if its plugins are in the
 * same source. Other parts of plugins are not installed.
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

/** A skill found in a source, valid or not. */
export interface SourceSkill {
  /** From its manifest, otherwise its folder's name. */
  readonly name: string;
  /** Inside the source, with `/`; `""` is its root. */
  readonly path: string;
  /** Where it is now. */
  readonly directory: string;
  /** From its manifest. Empty for a skill that cannot be loaded. */
  readonly description: string;
  /** From its manifest. Absent: none. */
  readonly version?: string | undefined;
  /** Absent for a skill that cannot be loaded. */
  readonly manifest?: SkillManifest | undefined;
  /** Of its content, `sha256:…`; `""` if it has none, explained in `diagnostics`. */
  readonly digest: string;
  /** The files that `digest` covers. Empty if there is no digest. */
  readonly files: readonly IdentifiedFile[];

  /** Problems with its files, and notes. */
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
 * Only folders with a `SKILL.md`: a lone `.md` file in a source is usually documentation. `rootName`: the name of a
 * skill at the source's root, if it does not say. `onFound` is called before a skill is read.
 */
export async function findSourceSkills(
  { folder, paths = [""], linked }: Pick<FetchedSource, "folder" | "paths" | "linked">,
  profile: Profile,
  rootName: string = basename(folder),
  onFound?: (directory: string) => void,
): Promise<SourceSkills> {
  const real = realPathOr(folder);
  const diagnostics: Diagnostic[] = [];
  /** By real path: links lead to the same skill again. */
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

/** Its real path; `undefined` if it is elsewhere, or not a folder. */
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

/** A download's folder name is arbitrary, so it does not contradict the skill's own name. */
async function nameRoot(found: SkillCandidate, rootName: string): Promise<SkillCandidate> {
  const candidate = { ...found, defaultName: rootName };
  const { checked } = await readSkill(candidate, "standard");
  return { ...candidate, defaultName: checked.manifest?.name ?? rootName };
}

/** The skill's folder leaves its source: this finds links out of it and exceeded limits at the latest. */
function withTreeCheck(skill: SourceSkill): SourceSkill {
  const wrong = checkTree(skill.directory).filter(({ severity }) => severity === "error");
  return wrong.length === 0
    ? skill
    : { ...skill, diagnostics: [...skill.diagnostics, ...wrong], valid: false };
}

/** Sources contain the same skill for several clients (`skills/`, `.claude/skills/`): one of them is enough. */
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

/** Paths that are not hidden come first. */
function comparePlaces(a: SourceSkill, b: SourceSkill): number {
  const isHidden = ({ path }: SourceSkill): number => Number(/(?:^|\/)\./.test(path));
  return isHidden(a) - isHidden(b) || compareText(a.path, b.path);
}

function reportCopy({ name, path, directory }: SourceSkill, same: SourceSkill): Diagnostic {
  return {
    code: "source.same-skill-twice",
    severity: "info",
    path: directory,
    message: `\`${name}\` is in the source twice with identical content: at \`${path}\` and at \`${same.path}\`.`,
    hint: "It is installed once.",
  };
}

const MISLEADING = /[/\\]|\.\.|[\p{Cc}\p{Cf}]/u;

/**
 * A skill is installed under its own name, which must be valid. What people write (`PDF Processing`) is normalized as
 * everywhere; what looks like a path, hides characters or is endless is not, since it pretends to be something else.
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

/** As in the file. */
async function readName({ directory, name }: SourceSkill): Promise<string> {
  const file = join(directory, "SKILL.md");
  const read = readBounded(file, MAX_SKILL_BYTES);
  const candidate = { form: "directory", file, directory, defaultName: name } as const;
  const parsed = read.ok ? await parseSkill(candidate, read.text) : undefined;
  return String(parsed?.frontmatter?.name ?? "");
}

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
    message: `The plugin ${showPath(name)} also contains ${all.join(", ")}; only its skills are installed.`,
    hint: "If you need all of it, install the plugin in a client that supports plugins.",
  };
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
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
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
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
