/**
 * Finds the skills of a fetched source with the same search, rules and content identity as everywhere. Problems are
 * reported next to each skill; the installer decides.
 */
import { basename, join, relative, sep } from "node:path";
import { type Diagnostic, hasErrors } from "@metier/base/diagnostic";
import { readBounded } from "@metier/base/files";
import { isInside, realPathOr } from "@metier/base/places";
import { done, type Result } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import {
  candidateForFile,
  inspectSkill,
  MAX_NAME_LENGTH,
  MAX_SKILL_BYTES,
  type Profile,
  parseSkill,
  readFolderListing,
  readSkill,
  SKILL_FILE,
  type SkillCandidate,
  type SkillManifest,
  searchRoot,
  toListing,
} from "@metier/skills";
import { digestFiles, type IdentifiedFile, identifyContent } from "@metier/skills/trust";
import type { FetchedSource, Fetching } from "./fetch-source.ts";
import { findPluginSkills } from "./plugin-skills.ts";
import { checkTree } from "./source-limits.ts";
import type { TreeMaker } from "./tree-maker.ts";
import type { WrittenContent } from "./written-files.ts";

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
  /** What is known of the files without reading them. */
  readonly content?: WrittenContent | undefined;
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

/** Skills that are read while others are still fetched. */
interface SkillsAhead {
  /** The folder is complete, and a real path. */
  begin(directory: string): void;
  /** The same skill, under the same name. */
  of(candidate: SkillCandidate): Promise<ReadSkillFolder> | undefined;
}

export function readSkillsAhead(profile: Profile, { madeIn }: Pick<TreeMaker, "madeIn">): SkillsAhead {
  const begun = new Map<string, Promise<ReadSkillFolder>>();
  const keyOf = ({ file, defaultName }: SkillCandidate): string => `${defaultName}\0${file}`;
  return {
    begin(directory) {
      const candidate = candidateForFile(join(directory, SKILL_FILE), "directory");
      const reading = readFolder(candidate, profile, madeIn(directory));
      reading.catch(() => undefined); // Whoever asks for it gets it.
      begun.set(keyOf(candidate), reading);
    },
    of: (candidate) => begun.get(keyOf(candidate)),
  };
}

interface KnownSource {
  readonly onFound?: Fetching["onFound"];
  readonly ahead?: SkillsAhead;
  readonly listIn?: TreeMaker["listIn"];
}

/**
 * Only folders with a `SKILL.md`: a lone `.md` file in a source is usually documentation. `rootName`: the name of a
 * skill at the source's root, if it does not say. `onFound` is called before a skill is read. `listIn`: what is known of its
 * folders.
 */
export async function findSourceSkills(
  { folder, paths = [""], linked }: Pick<FetchedSource, "folder" | "paths" | "linked">,
  profile: Profile,
  rootName: string = basename(folder),
  { onFound, ahead, listIn = () => undefined }: KnownSource = {},
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
      const scan = searchPlace(real, join(real, path, place), listIn);
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
    const named = candidate.directory === real ? await nameRoot(candidate, rootName) : candidate;
    const read = await (ahead?.of(named) ?? readFolder(named, profile));
    const skill = describeSkill(named, read, real);
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

function searchPlace(real: string, path: string, listIn: TreeMaker["listIn"]): ReturnType<typeof searchRoot> {
  const how = { scope: "installed", kind: "foreign", rank: 0, explicit: true } as const;
  const listFolder = (folder: string, top: boolean): ReturnType<typeof readFolderListing> => {
    const entries = listIn(folder);
    return entries ? toListing(entries, top) : readFolderListing(folder, top);
  };
  const options = { knownRoots: new Set([real]), nested: false, listFolder };
  return searchRoot({ ...how, path, grantFolder: path }, options);
}

interface ReadSkillFolder {
  readonly checked: Awaited<ReturnType<typeof readSkill>>["checked"];
  readonly identified: Result<Pick<SourceSkill, "digest" | "files">, Diagnostic>;
  readonly content?: WrittenContent | undefined;
}

async function readFolder(
  candidate: SkillCandidate,
  profile: Profile,
  content?: WrittenContent,
): Promise<ReadSkillFolder> {
  const { file, directory } = candidate;
  const { checked } = await readSkill(candidate, profile, inspectSkill, content?.read(basename(file)));
  const identified = content
    ? done({ digest: digestFiles(content.files), files: content.files })
    : identifyContent({ form: "directory", location: file, directory });
  return { checked, identified, content };
}

function describeSkill(
  { directory, defaultName }: SkillCandidate,
  { checked, identified, content }: ReadSkillFolder,
  real: string,
): SourceSkill {
  const { manifest, diagnostics: ofFile } = checked;
  const diagnostics = identified.ok ? ofFile : [...ofFile, identified.refusal];
  const { digest, files } = identified.ok ? identified.value : { digest: "", files: [] };
  return {
    name: manifest?.name ?? defaultName,
    path: relative(real, directory).split(sep).join("/"),
    directory,
    description: manifest?.description ?? "",
    version: manifest?.version,
    manifest,
    digest,
    files,
    content,
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

/**
 * The skill's folder leaves its source, and a link may then lead out of it. Everything else was checked when it was written.
 */
function withTreeCheck(skill: SourceSkill): SourceSkill {
  if (skill.digest !== "" && skill.files.every(({ kind }) => kind === "file")) return skill;
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
  const file = join(directory, SKILL_FILE);
  const read = readBounded(file, MAX_SKILL_BYTES);
  const candidate = { form: "directory", file, directory, defaultName: name } as const;
  const parsed = read.ok ? await parseSkill(candidate, read.text) : undefined;
  return String(parsed?.frontmatter?.name ?? "");
}
