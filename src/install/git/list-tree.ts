/** What a commit holds, as git has it recorded: read from the tree, never from a checkout. */
import { isUtf8 } from "node:buffer";
import { nearestNames } from "../../foundation/nearest-names.ts";
import { showPath } from "../../host/contained-path.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import type { GitRemote } from "./git-remote.ts";

export interface TreeEntry {
  readonly kind: "file" | "link" | "submodule";
  readonly executable: boolean;
  readonly id: string;
  /** From the root of the repository. */
  readonly path: string;
}

type TreeOutcome = { readonly ok: true; readonly entries: readonly TreeEntry[] } | FaultOutcome;

const ENTRY = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/s;
const MAX_LISTING_BYTES = 64 * 1024 * 1024;

/** Everything at `path`, which is a folder or a file; `""` is the whole tree. */
export async function listTree(
  remote: GitRemote,
  folder: string,
  commit: string,
  path: string,
): Promise<TreeOutcome> {
  const chunks: Uint8Array[] = [];
  const tooMuch = new AbortController();
  let bytes = 0;
  const answer = await remote.read({
    args: [`--git-dir=${folder}`, "ls-tree", "-r", "-z", "--full-tree", commit],
    signal: tooMuch.signal,
    onOutput(chunk) {
      bytes += chunk.length;
      if (bytes > MAX_LISTING_BYTES) tooMuch.abort();
      else chunks.push(chunk);
    },
  });
  if (tooMuch.signal.aborted) {
    return faulty(
      "source.limited",
      `${showPath(remote.url)} has too many files to be listed.`,
      "Skills are installed from smaller repositories.",
    );
  }
  if (!answer.ok) return answer;
  const records = splitRecords(Buffer.concat(chunks));
  const unreadable = records.find((record) => !isUtf8(record));
  if (unreadable !== undefined) {
    return faulty(
      "source.unsafe",
      `${showPath(remote.url)} has a file whose name is not UTF-8: ${showPath(unreadable.toString("latin1"))}.`,
      "Only whoever keeps the repository can rename it.",
    );
  }
  const all = records.flatMap(readEntry);
  const entries =
    path === "" ? all : all.filter((entry) => entry.path === path || entry.path.startsWith(`${path}/`));
  const [first] = entries;
  if (first?.path === path && first.kind !== "file") {
    return faulty(
      "source.not_found",
      `${showPath(path)} of ${showPath(remote.url)} is a ${first.kind}.`,
      "Name the folder that it leads to.",
    );
  }
  return entries.length > 0 || path === "" ? { ok: true, entries } : refusePath(path, all, remote.url);
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

function refusePath(path: string, all: readonly TreeEntry[], url: string): FaultOutcome {
  const folders = new Set(all.map((entry) => entry.path.split("/").slice(0, -1).join("/")).filter(Boolean));
  const near = nearestNames(path, folders);
  const hint =
    near.length > 0
      ? `Did you mean ${near.map(showPath).join(", ")}?`
      : "Look into the repository for the path of the skill.";
  return faulty("source.not_found", `${showPath(url)} has no folder ${showPath(path)}.`, hint);
}
