/**
 * From git's own objects to plain files, byte for byte: no checkout, so no filter, no conversion of line ends and nothing
 * else that a `.gitattributes` could ask for takes place, and nothing of the repository runs.
 */
import { join } from "node:path";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { showPath } from "../../host/contained-path.ts";
import { type FaultOutcome, faulty, type InstallFaultCode } from "../install-fault.ts";
import { describeRefusal, RefusedTree } from "../refused-tree.ts";
import type { SourceLimits } from "../source-limits.ts";
import { createTreeWriter, type TreeWriter } from "../tree-writer.ts";
import { createBlobReader } from "./blob-reader.ts";
import type { GitRemote } from "./git-remote.ts";
import type { TreeEntry } from "./list-tree.ts";

type WriteOutcome = { readonly ok: true; readonly diagnostics: readonly Diagnostic[] } | FaultOutcome;

const NARROW = "name the path of one skill in the address, so that the rest is not fetched.";
const HINTS: Readonly<Partial<Record<InstallFaultCode, string>>> = {
  "source.unsafe": `Nothing of it was installed. Tell its author; if it is not in the skill you want, ${NARROW}`,
  "source.limited": `Nothing of it was installed. If it holds more than the skill you want, ${NARROW}`,
};
const LFS_POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n/;
const MAX_POINTER_BYTES = 1024;

/** `repository` holds all of `entries`; `into` is an empty folder. */
export async function writeTree(
  remote: GitRemote,
  repository: string,
  entries: readonly TreeEntry[],
  into: string,
  limits: SourceLimits,
): Promise<WriteOutcome> {
  const diagnostics = entries
    .filter(({ kind }) => kind === "submodule")
    .map((entry) => reportSubmodule(entry, into));
  const written = entries.filter(({ kind }) => kind !== "submodule");
  const writer = createTreeWriter(into, limits);
  const stop = new AbortController();
  let next = 0;
  const place = (content: Buffer): void => {
    const entry = written[next++];
    if (entry === undefined) return;
    writeEntry(writer, entry, content);
    if (isLfsPointer(content)) diagnostics.push(reportPointer(entry, into));
  };
  try {
    if (written.length > limits.files) {
      throw new RefusedTree("source.limited", `It has ${written.length} files; ${limits.files} are allowed.`);
    }
    const reader = createBlobReader(limits.fileBytes, (_, content) => place(content));
    let fault: unknown;
    const answer = await remote.read({
      args: [`--git-dir=${repository}`, "cat-file", "--batch"],
      stdin: written.map(({ id }) => `${id}\n`).join(""),
      signal: stop.signal,
      onOutput(chunk) {
        if (stop.signal.aborted) return;
        try {
          reader.take(chunk);
        } catch (thrown) {
          fault = thrown;
          stop.abort();
        }
      },
    });
    if (fault !== undefined) throw fault;
    if (!answer.ok) return answer;
    if (next < written.length) {
      throw new RefusedTree("source.damaged", `Git gave ${next} of its ${written.length} files.`);
    }
    return { ok: true, diagnostics: [...diagnostics, ...writer.finish()] };
  } catch (thrown) {
    const { fault } = describeRefusal(thrown, showPath(remote.url));
    return faulty(fault.code, fault.message, HINTS[fault.code] ?? fault.hint);
  }
}

function writeEntry(writer: TreeWriter, { kind, path, executable }: TreeEntry, content: Buffer): void {
  if (kind === "link") writer.addLink(path, content.toString("utf8"));
  else writer.addBytes(path, executable, content);
}

function isLfsPointer(content: Buffer): boolean {
  return content.length <= MAX_POINTER_BYTES && LFS_POINTER.test(content.toString("latin1"));
}

function reportSubmodule({ path }: TreeEntry, into: string): Diagnostic {
  return {
    code: "tree.submodule",
    severity: "warning",
    path: join(into, path),
    message: `${showPath(path)} is a submodule, another repository; it was left out.`,
    hint: "If the skill needs it, install from a repository that holds the files themselves.",
  };
}

function reportPointer({ path }: TreeEntry, into: string): Diagnostic {
  return {
    code: "tree.lfs-pointer",
    severity: "warning",
    path: join(into, path),
    message: `${showPath(path)} is kept in Git LFS; only the pointer to it was fetched.`,
    hint: "If the skill needs it, ask its author to keep the file in the repository itself.",
  };
}
