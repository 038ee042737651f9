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
import { candidateForFile } from "../sources/candidate.ts";
import { scanRoot } from "../sources/scan-root.ts";
import { identifyContent } from "../trust/content-identity.ts";
import type { IdentifiedFile } from "../trust/identify-file.ts";
import { inspectSkill } from "../validate/inspect-skill.ts";
import type { Profile } from "../validate/profiles.ts";
import type { FetchedSource } from "./fetch-source.ts";
import { findPluginSkills } from "./plugins/find-plugin-skills.ts";
import { checkTree } from "./source-limits.ts";

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

type SearchedSource = Pick<FetchedSource, "folder" | "paths" | "linked">;

/**
 * Only folders with a `SKILL.md`: a lone `.md` file in a source is most often a page about them. `rootName`: what a
 * skill at the root of the source is called if it does not say so itself.
 */
export async function findSourceSkills(
  { folder, paths = [""], linked }: SearchedSource,
  profile: Profile,
  rootName: string = basename(folder),
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
      for (const { candidate } of scan.found) {
        const directory = realPathOr(candidate.directory);
        if (candidate.form === "directory" && isInside(directory, real)) {
          found.set(directory, candidateForFile(join(directory, basename(candidate.file)), "directory"));
        }
      }
    }
  }
  const skills: SourceSkill[] = [];
  for (const candidate of found.values()) {
    const skill = await describeSkill(candidate, real, profile, rootName);
    skills.push(linked ? skill : withTreeCheck(skill));
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

function markAmbiguous(skills: readonly SourceSkill[]): readonly SourceSkill[] {
  const names = Map.groupBy(skills, ({ name }) => name);
  return skills.map((skill) => ({ ...skill, ambiguous: (names.get(skill.name)?.length ?? 0) > 1 }));
}
