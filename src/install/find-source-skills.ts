/**
 * The skills of a fetched source: found by the same search as anywhere, checked by the same rules, identified by
 * content. What is wrong with one is said beside it; it is for the installer to choose and to refuse.
 */
import { basename, join, relative, sep } from "node:path";
import { readSkill } from "../catalog/read-skill.ts";
import { compareText, type Diagnostic, hasErrors } from "../foundation/diagnostic.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { SkillCandidate } from "../skill/skill.ts";
import type { FoundSkill } from "../sources/scan.ts";
import { scanRoot } from "../sources/scan-root.ts";
import { identifyContent } from "../trust/content-identity.ts";
import type { IdentifiedFile } from "../trust/identify-file.ts";
import { inspectSkill } from "../validate/inspect-skill.ts";
import type { Profile } from "../validate/profiles.ts";
import type { FetchedSource } from "./fetch-source.ts";
import { findPluginSkills } from "./plugins/find-plugin-skills.ts";

export interface SourceSkill {
  readonly name: string;
  /** Inside the source, with `/`; `""` is its root. */
  readonly path: string;
  /** Where it lies now. */
  readonly directory: string;
  readonly description: string;
  readonly version?: string;
  /** Absent for a skill that cannot be loaded. */
  readonly manifest?: SkillManifest;
  /** Of its content, `sha256:…`; `""` when it has none, and `diagnostics` say why. */
  readonly digest: string;
  readonly files: readonly IdentifiedFile[];
  readonly bytes: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly valid: boolean;
  /** Another skill of the source has the same name and other content: only its path tells which is meant. */
  readonly ambiguous: boolean;
}

export interface SourceSkills {
  /** Sorted by name, then path. */
  readonly skills: readonly SourceSkill[];
  /** About the source, not about one skill. */
  readonly diagnostics: readonly Diagnostic[];
}

type SearchedSource = Pick<FetchedSource, "folder" | "paths">;

/** `rootName`: what a skill at the root of the source is called if it does not say so itself. */
export async function findSourceSkills(
  { folder, paths = [""] }: SearchedSource,
  profile: Profile,
  rootName: string = basename(folder),
): Promise<SourceSkills> {
  const real = realPathOr(folder);
  const diagnostics: Diagnostic[] = [];
  const found = new Map<string, FoundSkill>();
  for (const path of paths) {
    const plugin = findPluginSkills(join(real, path));
    diagnostics.push(...plugin.diagnostics);
    const places = plugin.paths.length > 0 ? plugin.paths : [""];
    for (const place of places) {
      const scan = searchPlace(real, join(real, path, place));
      diagnostics.push(...scan.diagnostics);
      for (const skill of scan.found) {
        if (!found.has(skill.realFile) && isInside(skill.realFile, real)) found.set(skill.realFile, skill);
      }
    }
  }
  const skills: SourceSkill[] = [];
  for (const { candidate } of found.values()) {
    const skill = await describeSkill(candidate, real, profile, rootName);
    if (skill !== undefined) skills.push(skill);
  }
  return { skills: markAmbiguous(withoutCopies(skills, diagnostics)), diagnostics };
}

function searchPlace(real: string, path: string): ReturnType<typeof scanRoot> {
  const root = {
    scope: "installed",
    kind: "foreign",
    path,
    rank: 0,
    explicit: true,
    grantFolder: path,
  } as const;
  return scanRoot(root, { knownRoots: [real], nested: false });
}

/** `undefined` for a flat file: a source brings folders, and a `.md` file in one is most often a page about them. */
async function describeSkill(
  found: SkillCandidate,
  real: string,
  profile: Profile,
  rootName: string,
): Promise<SourceSkill | undefined> {
  if (found.form !== "directory") return undefined;
  const isRoot = found.directory === real;
  const candidate = isRoot ? { ...found, defaultName: rootName } : found;
  const { checked } = await readSkill(candidate, profile, inspectSkill);
  const { manifest } = checked;
  // The folder of a download has a name by chance; the skill's folder in the store bears the skill's.
  const ofFile = checked.diagnostics.filter(({ code }) => !(isRoot && code === "name.not-directory"));
  const identified = identifyContent({ form: "directory", location: found.file, directory: found.directory });
  const diagnostics = identified.ok ? ofFile : [...ofFile, identified.diagnostic];
  const { digest, files } = identified.ok ? identified.identity : { digest: "", files: [] };
  return {
    name: manifest?.name ?? candidate.defaultName,
    path: relative(real, found.directory).split(sep).join("/"),
    directory: found.directory,
    description: manifest?.description ?? "",
    ...(manifest?.version !== undefined && { version: manifest.version }),
    ...(manifest && { manifest }),
    digest,
    files,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    diagnostics,
    valid: manifest !== undefined && !hasErrors(diagnostics),
    ambiguous: false,
  };
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

function markAmbiguous(skills: readonly SourceSkill[]): readonly SourceSkill[] {
  const names = Map.groupBy(skills, ({ name }) => name);
  return skills.map((skill) => ({ ...skill, ambiguous: (names.get(skill.name)?.length ?? 0) > 1 }));
}
