/**
 * Writes git objects as plain files, byte for byte: no checkout, so no filter, line ending conversion or anything else
 * that a `.gitattributes` could request, and nothing of the repository runs.
 */
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { showPath } from "@metier/base/files";
import { done, type Result } from "@metier/base/result";
import type { FetchContext } from "../fetch-source.ts";
import { faulty, type InstallFault, type InstallFaultCode, limited } from "../install-fault.ts";
import { MAKE_HERE } from "../tree-maker.ts";
import { createTreeWriter } from "../tree-writer.ts";
import { describeObjectFault, type GitObjects } from "./git-objects.ts";
import type { TreeEntry } from "./list-tree.ts";

const NARROW = "name the path of one skill in the address, so that only that is fetched.";
const HINTS: Readonly<Partial<Record<InstallFaultCode, string>>> = {
  "source.unsafe": `Nothing was installed. Tell its author; if this is not part of the skill you want, ${NARROW}`,
  "source.limited": `Nothing was installed. If it holds more than the skill you want, ${NARROW}`,
};
const LFS_POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n/;
const MAX_POINTER_BYTES = 1024;

/** `objects` are those of `entries`, from the repository at `url`; `into` is an empty folder. */
export async function writeTree(
  { ask }: GitObjects,
  url: string,
  entries: readonly TreeEntry[],
  into: string,
  { limits, onFound, makerOf }: Pick<FetchContext, "limits" | "onFound" | "makerOf">,
): Promise<Result<readonly Diagnostic[], InstallFault>> {
  const diagnostics = entries
    .filter(({ kind }) => kind === "submodule")
    .map((entry) => warn(entry, into, SUBMODULE));
  const written = entries.filter(({ kind }) => kind !== "submodule");
  const maker = makerOf?.(written.length) ?? MAKE_HERE;
  const writer = createTreeWriter(into, limits, maker);
  let next = 0;
  const folders = watchFolders((path) => maker.whenMade(() => onFound?.(join(into, path))));
  const place = (content: Buffer): void => {
    const entry = written[next++];
    if (entry === undefined) return;
    if (entry.kind === "link") writer.addLink(entry.path, content.toString("utf8"));
    else writer.addBytes(entry.path, entry.executable, content);
    if (isLfsPointer(content)) diagnostics.push(warn(entry, into, POINTER));
    folders.pass(entry);
  };
  try {
    if (written.length > limits.files) {
      throw limited(`It has ${written.length} files; the limit is ${limits.files}.`);
    }
    const ids = written.map(({ id }) => id);
    await ask("blob", ids, limits.fileBytes, place);
    await maker.finish();
    return done([...diagnostics, ...writer.finish()]);
  } catch (thrown) {
    const { refusal } = describeObjectFault(thrown, url);
    return faulty(refusal.code, refusal.message, HINTS[refusal.code] ?? refusal.hint);
  }
}

const SKILL_FILE = "SKILL.md";

/** Entries are sorted, so a folder's entries are adjacent: when another one comes, it is complete. */
function watchFolders(onWhole: (path: string) => void): { pass(entry: TreeEntry): void } {
  /** With its slash; for nested skills, the outer one. */
  let skill: string | undefined;
  let links: string | undefined;
  return {
    pass({ path, kind }) {
      if (skill !== undefined && !path.startsWith(skill)) {
        // Links are created last.
        if (!links?.startsWith(skill)) onWhole(skill.slice(0, -1));
        skill = undefined;
      }
      if (kind === "link") links = path;
      if (skill === undefined && path.endsWith(`/${SKILL_FILE}`)) skill = path.slice(0, -SKILL_FILE.length);
    },
  };
}

function isLfsPointer(content: Buffer): boolean {
  return content.length <= MAX_POINTER_BYTES && LFS_POINTER.test(content.toString("latin1"));
}

const SUBMODULE = {
  code: "tree.submodule",
  message: "is a submodule (another repository) and was left out.",
  hint: "If the skill needs it, install from a repository that contains the files themselves.",
} as const;
const POINTER = {
  code: "tree.lfs-pointer",
  message: "is stored in Git LFS; only its pointer was fetched.",
  hint: "If the skill needs it, ask its author to store the file in the repository itself.",
} as const;

function warn({ path }: TreeEntry, into: string, what: typeof SUBMODULE | typeof POINTER): Diagnostic {
  const message = `${showPath(path)} ${what.message}`;
  return { ...what, severity: "warning", path: join(into, path), message };
}
