/**
 * From git's own objects to plain files, byte for byte: no checkout, so no filter, no conversion of line ends and nothing
 * else that a `.gitattributes` could ask for takes place, and nothing of the repository runs. Listed first, then written.
 */
import { isUtf8 } from "node:buffer";
import { dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { showPath } from "@metier/base/files";
import { done, type Refused, type Result } from "@metier/base/result";
import { nearestNames } from "@metier/base/text";
import type { FetchContext } from "../fetch-source.ts";
import {
  damaged,
  describeRefusal,
  faulty,
  type InstallFault,
  type InstallFaultCode,
  limited,
} from "../install-fault.ts";
import { createTreeWriter } from "../source-limits.ts";
import type { GitRemote } from "./git-remote.ts";

export interface TreeEntry {
  readonly kind: "file" | "link" | "submodule";
  readonly executable: boolean;
  readonly id: string;
  /** From the root of the repository. */
  readonly path: string;
}

const ENTRY = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/s;
const MAX_LISTING_BYTES = 64 * 1024 * 1024;

/** What the commit holds, read from the tree, never from a checkout: everything at `path`, which is a folder or a file; `""` is the whole tree. */
export async function listTree(
  remote: GitRemote,
  folder: string,
  commit: string,
  path: string,
): Promise<Result<readonly TreeEntry[], InstallFault>> {
  const chunks: Uint8Array[] = [];
  const tooMuch = new AbortController();
  let bytes = 0;
  const args = [`--git-dir=${folder}`, "ls-tree", "-r", "-z", "--full-tree", commit];
  const answer = await remote.read(args, {
    signal: tooMuch.signal,
    onOutput(chunk) {
      bytes += chunk.length;
      if (bytes > MAX_LISTING_BYTES) tooMuch.abort();
      else chunks.push(chunk);
    },
  });
  if (tooMuch.signal.aborted) {
    const hint = "Skills are installed from smaller repositories.";
    return faulty("source.limited", `${showPath(remote.url)} has too many files to be listed.`, hint);
  }
  if (!answer.ok) return answer;
  const records = splitRecords(Buffer.concat(chunks));
  const wanted = path === "" ? records : records.filter((record) => liesAt(pathOf(record), path));
  const unreadable = wanted.find((record) => !isUtf8(record));
  if (unreadable !== undefined) {
    const shown = showPath(pathOf(unreadable).toString("latin1"));
    const message = `${showPath(remote.url)} has a file whose name is not UTF-8: ${shown}.`;
    return faulty("source.unsafe", message, "Only whoever keeps the repository can rename it.");
  }
  const entries = wanted.flatMap(readEntry);
  const [first] = entries;
  if (first === undefined && path !== "") return refusePath(path, records, remote.url);
  if (first?.path === path && first.kind !== "file") {
    const message = `${showPath(path)} of ${showPath(remote.url)} is a ${first.kind}.`;
    return faulty("source.not_found", message, "Name the folder that it leads to.");
  }
  return done(entries);
}

function pathOf(record: Buffer): Buffer {
  return record.subarray(record.indexOf("\t") + 1);
}

function liesAt(found: Buffer, path: string): boolean {
  const wanted = Buffer.from(path);
  if (!found.subarray(0, wanted.length).equals(wanted)) return false;
  return found.length === wanted.length || found[wanted.length] === "/".charCodeAt(0);
}

function splitRecords(listing: Buffer): readonly Buffer[] {
  const records: Buffer[] = [];
  for (let start = 0; start < listing.length; ) {
    const end = listing.indexOf(0, start);
    if (end === -1) break;
    records.push(listing.subarray(start, end));
    start = end + 1;
  }
  return records;
}

function readEntry(record: Buffer): readonly TreeEntry[] {
  const [, mode, id, path] = ENTRY.exec(record.toString("utf8")) ?? [];
  if (mode === undefined || id === undefined || path === undefined) return [];
  const kind = mode === "120000" ? "link" : mode === "160000" ? "submodule" : "file";
  return [{ kind, executable: mode === "100755", id, path }];
}

function refusePath(path: string, records: readonly Buffer[], url: string): Refused<InstallFault> {
  const folders = new Set(records.map((record) => dirname(pathOf(record).toString("utf8"))));
  const near = nearestNames(path, folders);
  const hint =
    near.length > 0
      ? `Did you mean ${near.map(showPath).join(", ")}?`
      : "Look into the repository for the path of the skill.";
  return faulty("source.not_found", `${showPath(url)} has no folder or file ${showPath(path)}.`, hint);
}

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
  { limits, onFound }: Pick<FetchContext, "limits" | "onFound">,
): Promise<Result<readonly Diagnostic[], InstallFault>> {
  const diagnostics = entries
    .filter(({ kind }) => kind === "submodule")
    .map((entry) => warn(entry, into, SUBMODULE));
  const written = entries.filter(({ kind }) => kind !== "submodule");
  const writer = createTreeWriter(into, limits);
  const stop = new AbortController();
  let next = 0;
  const folders = watchFolders((path) => onFound?.(join(into, path)));
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
      throw limited(`It has ${written.length} files; ${limits.files} are allowed.`);
    }
    const take = createBlobReader(limits.fileBytes, place);
    let fault: unknown;
    const answer = await remote.read([`--git-dir=${repository}`, "cat-file", "--batch", "--buffer"], {
      stdin: written.map(({ id }) => `${id}\n`).join(""),
      signal: stop.signal,
      onOutput(chunk) {
        if (stop.signal.aborted) return;
        try {
          take(chunk);
        } catch (thrown) {
          fault = thrown;
          stop.abort();
        }
      },
    });
    if (fault !== undefined) throw fault;
    if (!answer.ok) return answer;
    if (next < written.length) throw damaged(`Git gave ${next} of its ${written.length} files.`);
    return done([...diagnostics, ...writer.finish()]);
  } catch (thrown) {
    const { refusal } = describeRefusal(thrown, showPath(remote.url));
    return faulty(refusal.code, refusal.message, HINTS[refusal.code] ?? refusal.hint);
  }
}

const SKILL_FILE = "SKILL.md";

/** Entries come sorted, so that those of a folder follow each other: when another one comes, all of it is there. */
function watchFolders(onWhole: (path: string) => void): { pass(entry: TreeEntry): void } {
  /** With its slash; of skills in one another, the outer one. */
  let skill: string | undefined;
  let links: string | undefined;
  return {
    pass({ path, kind }) {
      if (skill !== undefined && !path.startsWith(skill)) {
        // Links are made last of all.
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
  message: "is a submodule, another repository; it was left out.",
  hint: "If the skill needs it, install from a repository that holds the files themselves.",
} as const;
const POINTER = {
  code: "tree.lfs-pointer",
  message: "is kept in Git LFS; only the pointer to it was fetched.",
  hint: "If the skill needs it, ask its author to keep the file in the repository itself.",
} as const;

function warn({ path }: TreeEntry, into: string, what: typeof SUBMODULE | typeof POINTER): Diagnostic {
  const message = `${showPath(path)} ${what.message}`;
  return { ...what, severity: "warning", path: join(into, path), message };
}

const HEADER = /^([0-9a-f]+) blob (\d+)$/;
const MAX_HEADER_BYTES = 256;

/**
 * Takes apart what `git cat-file --batch` writes (a line with id, kind and size, the content, a line end, and so on), and
 * gives each content whole, in the order in which it was asked for. Throws for an object that is missing, no file, or
 * larger than `maxBytes`.
 */
function createBlobReader(maxBytes: number, consume: (content: Buffer) => void): (chunk: Uint8Array) => void {
  let pending: Buffer[] = [];
  let held = 0;
  /** How many bytes are needed before there is something to do. */
  let needed = 1;
  let blob: { readonly size: number } | undefined;

  const readHeader = (bytes: Buffer): Buffer | undefined => {
    const end = bytes.indexOf("\n");
    if (end === -1 && bytes.length < MAX_HEADER_BYTES) return undefined;
    const line = bytes.toString("latin1", 0, end === -1 ? MAX_HEADER_BYTES : end);
    const [, id, digits] = HEADER.exec(line) ?? [];
    if (id === undefined) throw damaged(`A file of it is not there: git says \`${line}\`.`);
    const size = Number(digits);
    if (size > maxBytes) throw limited(`A file of it has ${size} bytes; ${maxBytes} are allowed.`);
    blob = { size };
    return bytes.subarray(end + 1);
  };
  const readContent = (bytes: Buffer): Buffer | undefined => {
    if (blob === undefined || bytes.length <= blob.size) return undefined;
    const { size } = blob;
    blob = undefined;
    consume(bytes.subarray(0, size));
    return bytes.subarray(size + 1);
  };

  return (chunk) => {
    pending.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    held += chunk.length;
    if (held < needed) return;
    let bytes: Buffer = Buffer.concat(pending);
    for (;;) {
      const rest = blob === undefined ? readHeader(bytes) : readContent(bytes);
      if (rest === undefined) break;
      bytes = rest;
    }
    pending = [bytes];
    held = bytes.length;
    needed = blob === undefined ? held + 1 : blob.size + 1;
  };
}
