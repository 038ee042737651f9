/**
 * Resolves which commit an address means right now: a branch, a tag, a page's path, or the start of an id, from the
 * repository's own list.
 */
import { join } from "node:path";
import { removeFolder, showPath } from "@metier/base/files";
import { done, type Refused, type Result } from "@metier/base/result";
import { nearestNames } from "@metier/base/text";
import type { GitAddress } from "../addresses/source-address.ts";
import type { FetchContext } from "../fetch-source.ts";
import { faulty, type InstallFault } from "../install-fault.ts";
import { fetchInto, makeRepository } from "./fetch-into.ts";
import { SHA1_LENGTH } from "./git-objects.ts";
import type { GitRemote } from "./git-remote.ts";

export interface ResolvedRef {
  /** Its full id. */
  readonly commit: string;
  /** As requested, if anything was. */
  readonly ref?: string | undefined;
  /** The rest of the address's path after the reference. */
  readonly path: string;
  /** Its name in the repository's list. */
  readonly listed?: string;
}

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT = /^[0-9a-f]{7,63}$/;
const LISTED = /^([0-9a-f]{40}|[0-9a-f]{64})\t(\S+)$/;
const MAX_SPLITS = 8;

export async function resolveRef(
  address: GitAddress,
  remote: GitRemote,
  context: FetchContext,
): Promise<Result<ResolvedRef, InstallFault>> {
  const { ref, path } = address;
  if (ref === undefined) return resolveHead(remote, path);
  if (COMMIT_ID.test(ref)) return done({ commit: ref, ref, path });
  const splits = listSplits(address);
  const listed = await listRefs(
    remote,
    splits.flatMap((split) => namesOf(split.ref).flatMap((name) => [name, `${name}^{}`])),
  );
  if (!listed.ok) return listed;
  for (const split of splits) {
    const name = namesOf(split.ref).find((one) => listed.value.has(one));
    const commit =
      name === undefined ? undefined : (listed.value.get(`${name}^{}`) ?? listed.value.get(name));
    if (name !== undefined && commit !== undefined) return done({ commit, ...split, listed: name });
  }
  if (SHORT_COMMIT.test(ref)) return resolveShort(ref, path, remote, context);
  return refuseUnknown(ref, remote);
}

/** Longest first: a page does not say where its branch ends. */
function listSplits(address: GitAddress): readonly { ref: string; path: string }[] {
  const { ref = "", path, splitsAnywhere } = address;
  if (!splitsAnywhere) return [{ ref, path }];
  const segments = path.split("/");
  const most = Math.min(segments.length, MAX_SPLITS);
  return Array.from({ length: most + 1 }, (_, index) => {
    const taken = most - index;
    return { ref: [ref, ...segments.slice(0, taken)].join("/"), path: segments.slice(taken).join("/") };
  });
}

/** A branch before a tag, as in `git clone --branch`; a full name is itself. */
function namesOf(ref: string): readonly string[] {
  return ref === "HEAD" || ref.startsWith("refs/") ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
}

async function listRefs(
  remote: GitRemote,
  patterns: readonly string[],
): Promise<Result<ReadonlyMap<string, string>, InstallFault>> {
  const answer = await remote.ask(["ls-remote", "--quiet", "--", remote.url, ...patterns]);
  if (!answer.ok) return answer;
  const pairs = answer.value.split("\n").flatMap((line) => {
    const [, id, name] = LISTED.exec(line) ?? [];
    return id === undefined || name === undefined ? [] : [[name, id] as const];
  });
  return done(new Map(pairs));
}

async function resolveHead(remote: GitRemote, path: string): Promise<Result<ResolvedRef, InstallFault>> {
  const listed = await listRefs(remote, ["HEAD"]);
  if (!listed.ok) return listed;
  const commit = listed.value.get("HEAD");
  if (commit !== undefined) return done({ commit, path, listed: "HEAD" });
  const message = `${showPath(remote.url)} has no default branch, or no commits.`;
  return faulty("source.ref_not_found", message, "Name a branch or a tag with `--ref`.");
}

/** The start of a commit id: lists all commits, without their contents. */
async function resolveShort(
  ref: string,
  path: string,
  remote: GitRemote,
  context: FetchContext,
): Promise<Result<ResolvedRef, InstallFault>> {
  const folder = join(context.into, "commits.git");
  try {
    makeRepository(folder, SHA1_LENGTH);
    const heads = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
    const fetched = await remote.ask([...fetchInto(folder), "--filter=tree:0", "--", remote.url, ...heads]);
    if (!fetched.ok) return fetched;
    const commit = await findCommit(remote, folder, ref);
    return COMMIT_ID.test(commit) ? done({ commit, ref, path }) : await refuseUnknown(ref, remote);
  } finally {
    removeFolder(folder);
  }
}

async function refuseUnknown(ref: string, remote: GitRemote): Promise<Refused<InstallFault>> {
  const listed = await listRefs(remote, ["refs/heads/*", "refs/tags/*"]);
  if (!listed.ok) return listed;
  const names = [...listed.value.keys()]
    .filter((name) => !name.endsWith("^{}"))
    .map((name) => name.replace(/^refs\/(?:heads|tags)\//, ""));
  const near = nearestNames(ref, names);
  const shown = near.length > 0 ? near : names.slice(0, 5);
  const which = shown.map(showPath).join(", ");
  const hint = near.length > 0 ? `Did you mean ${which}?` : `It has ${which || "no branches and no tags"}.`;
  const message = `${showPath(remote.url)} has no branch, tag or commit ${showPath(ref)}.`;
  return faulty("source.ref_not_found", message, hint);
}

/** The full id of a commit that is present; `undefined` if it is not. */
async function findCommit(remote: GitRemote, folder: string, ref: string): Promise<string> {
  const args = [`--git-dir=${folder}`, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
  const found = await remote.read(args);
  return found.ok ? found.value.trim() : "";
}
