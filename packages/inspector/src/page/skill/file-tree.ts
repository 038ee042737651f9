/** Paths as a tree of folders: the instructions first, then other files and folders, sorted by name. Pure. */
import type { ApiSkillFile } from "@metier/service/api";

export interface FileFolder {
  /** Without the parent folders. */
  readonly name: string;
  readonly folders: readonly FileFolder[];
  readonly files: readonly NamedFile[];
}

interface NamedFile {
  readonly name: string;
  readonly file: ApiSkillFile;
}

interface Draft {
  readonly name: string;
  readonly folders: Map<string, Draft>;
  readonly files: NamedFile[];
}

export function buildFileTree(files: readonly ApiSkillFile[]): FileFolder {
  const root = emptyFolder("");
  for (const file of files) {
    const parts = file.path.split("/");
    const name = parts.pop() ?? file.path;
    let folder = root;
    for (const part of parts) {
      const inner = folder.folders.get(part) ?? emptyFolder(part);
      folder.folders.set(part, inner);
      folder = inner;
    }
    folder.files.push({ name, file });
  }
  return finish(root);
}

function emptyFolder(name: string): Draft {
  return { name, folders: new Map(), files: [] };
}

function finish({ name, folders, files }: Draft): FileFolder {
  return {
    name,
    folders: [...folders.values()].sort(byName).map(finish),
    files: files.sort((a, b) => rankOf(a) - rankOf(b) || byName(a, b)),
  };
}

function rankOf({ file }: NamedFile): number {
  return file.kind === "instructions" ? 0 : 1;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
