/**
 * Where agents and custom commands are looked for: beside the skills folders. `.metier/skills` has `.metier/agents` and
 * `.metier/commands` next to it, with the same rank and the same rules of trust.
 */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isOwnFolder, realPathOr } from "../host/project-folders.ts";
import { leavesProject } from "../sources/scan-root.ts";
import type { SkillRoot } from "../sources/skill-root.ts";

export type DefinitionKind = "agents" | "commands";

export interface DefinitionFolder {
  readonly root: SkillRoot;
  readonly realPath: string;
}

export interface DefinitionFolders {
  readonly folders: readonly DefinitionFolder[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The folders there are, for the skills folders of a user and a project; a folder that is missing is no fault. */
export function definitionFolders(kind: DefinitionKind, skillRoots: readonly SkillRoot[]): DefinitionFolders {
  const folders: DefinitionFolder[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const skillRoot of skillRoots.filter(isInDotFolder)) {
    const root = rootBeside(skillRoot, kind);
    if (!isFolder(root.path)) continue;
    const realPath = realPathOr(root.path);
    if (root.scope === "project" && !isOwnFolder(root.path)) diagnostics.push(reportForeign(root.path));
    else if (leavesProject(root, realPath)) diagnostics.push(reportEscape(root.path, realPath));
    else folders.push({ root, realPath });
  }
  return { folders, diagnostics };
}

/** A plain `skills` folder of a project has nothing to say about an `agents` folder beside it. */
function isInDotFolder({ scope, path }: SkillRoot): boolean {
  return (scope === "user" || scope === "project") && basename(dirname(path)).startsWith(".");
}

function rootBeside(root: SkillRoot, kind: DefinitionKind): SkillRoot {
  const path = join(dirname(root.path), kind);
  return { ...root, path, grantFolder: root.scope === "project" ? root.grantFolder : path };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing, or not ours to see: there is nothing to read either way.
  }
}

function reportForeign(path: string): Diagnostic {
  return {
    code: "source.foreign-owner",
    severity: "warning",
    path,
    message: `\`${path}\` belongs to another user, so it is not read.`,
    hint: "Make it your own if you want what is in it.",
  };
}

function reportEscape(path: string, realPath: string): Diagnostic {
  return {
    code: "link.escapes",
    severity: "error",
    path,
    message: `\`${path}\` is a link out of the project, to \`${realPath}\`; it is not read.`,
    hint: "Put the folder itself there instead of a link.",
  };
}
