/**
 * The command line's first-use question, as data: which folders to ask about, and what is at stake. Asked once per
 * folder, since a no is recorded too. Pure; the command line asks.
 */
import { isInside } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import type { Scope } from "../skill/skill-name.ts";
import { type FolderGrant, nearestFolderGrant } from "./grants.ts";

/** A root of kind `vouched` and how many skills were found in it. */
export interface VouchedRoot {
  readonly scope: Scope;
  readonly realPath: string;
  /** The project, or the folder itself. */
  readonly grantFolder: string;
  readonly skills: number;
}

export interface ProjectConfigFile {
  readonly path: string;
  /** `sha256:…` of its bytes. */
  readonly digest: string;
}

export interface TrustQuestionInput {
  readonly roots: readonly VouchedRoot[];
  /** The real path of the repository root, or of the working directory outside one. */
  readonly projectFolder: string;
  readonly projectConfig?: ProjectConfigFile | undefined;
  readonly folderGrants: readonly FolderGrant[];
  /** Real paths. */
  readonly trustedPaths: readonly string[];
}

export interface TrustQuestion {
  /** What a yes or no is recorded for. */
  readonly folder: string;
  readonly scope: Scope;
  readonly skills: number;
  /** The folders where the skills were found. */
  readonly roots: readonly string[];
  /** A yes also covers this file as it is: record it as `configDigest`, or a no as `refusedConfigDigest`. */
  readonly config?: ProjectConfigFile | undefined;
  /** `new`: no decision yet. `config-changed`: the folder is trusted, but its config file has changed. */
  readonly about: "new" | "config-changed";
}

/** The project first, then the others by path. */
export function listTrustQuestions(input: TrustQuestionInput): readonly TrustQuestion[] {
  const folders = Map.groupBy(
    input.roots.filter(({ skills }) => skills > 0),
    // A grant is bound to the real path, so a root that a link leads elsewhere is asked about separately.
    ({ realPath, grantFolder }) => (isInside(realPath, grantFolder) ? grantFolder : realPath),
  );
  if (input.projectConfig && !folders.has(input.projectFolder)) folders.set(input.projectFolder, []);
  const isProject = ({ folder }: TrustQuestion): boolean => folder === input.projectFolder;
  return [...folders]
    .map(([folder, roots]) => makeQuestion(input, folder, roots))
    .filter((question) => question !== undefined)
    .sort((a, b) => Number(isProject(b)) - Number(isProject(a)) || compareText(a.folder, b.folder));
}

function makeQuestion(
  input: TrustQuestionInput,
  folder: string,
  roots: readonly VouchedRoot[],
): TrustQuestion | undefined {
  const config = folder === input.projectFolder ? input.projectConfig : undefined;
  const about = whatToAsk(input, folder, config);
  if (!about) return undefined;
  return {
    folder,
    scope: roots[0]?.scope ?? "project",
    skills: roots.reduce((sum, root) => sum + root.skills, 0),
    roots: roots.map((root) => root.realPath),
    config,
    about,
  };
}

function whatToAsk(
  input: TrustQuestionInput,
  folder: string,
  config: ProjectConfigFile | undefined,
): TrustQuestion["about"] | undefined {
  const grant = nearestFolderGrant(input.folderGrants, folder);
  if (grant?.decision === "denied") return undefined;
  const isTrusted = grant !== undefined || input.trustedPaths.some((path) => isInside(folder, path));
  if (!isTrusted) return "new";
  const isDecided = config?.digest === grant?.configDigest || config?.digest === grant?.refusedConfigDigest;
  return config && !isDecided ? "config-changed" : undefined;
}
