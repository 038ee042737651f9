/** What a commit holds, as git has it recorded: read from the tree, never from a checkout. */
import { isUtf8 } from "node:buffer";
import { dirname } from "node:path";
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

export type TreeOutcome = { readonly ok: true; readonly entries: readonly TreeEntry[] } | FaultOutcome;

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
  const wanted = path === "" ? records : records.filter((record) => liesAt(pathOf(record), path));
  const unreadable = wanted.find((record) => !isUtf8(record));
  if (unreadable !== undefined) {
    const shown = showPath(pathOf(unreadable).toString("latin1"));
    return faulty(
      "source.unsafe",
      `${showPath(remote.url)} has a file whose name is not UTF-8: ${shown}.`,
      "Only whoever keeps the repository can rename it.",
    );
  }
  const entries = wanted.flatMap(readEntry);
  const [first] = entries;
  if (first === undefined && path !== "") return refusePath(path, records, remote.url);
  if (first?.path === path && first.kind !== "file") {
    const message = `${showPath(path)} of ${showPath(remote.url)} is a ${first.kind}.`;
    return faulty("source.not_found", message, "Name the folder that it leads to.");
  }
  return { ok: true, entries };
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

function refusePath(path: string, records: readonly Buffer[], url: string): FaultOutcome {
  const folders = new Set(records.map((record) => dirname(pathOf(record).toString("utf8"))));
  const near = nearestNames(path, folders);
  const hint =
    near.length > 0
      ? `Did you mean ${near.map(showPath).join(", ")}?`
      : "Look into the repository for the path of the skill.";
  return faulty("source.not_found", `${showPath(url)} has no folder or file ${showPath(path)}.`, hint);
}
