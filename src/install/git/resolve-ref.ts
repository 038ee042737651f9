/** From a branch, tag or commit to the one commit it is at this moment, by what the repository itself lists. */
import { join } from "node:path";
import { nearestNames } from "../../foundation/nearest-names.ts";
import { showPath } from "../../host/contained-path.ts";
import { removeFolder } from "../../host/remove-folder.ts";
import type { FetchContext } from "../fetch-source.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import type { GitAddress } from "../source-address.ts";
import { FETCH_QUIETLY, makeRepository } from "./fetch-commit.ts";
import type { GitRemote } from "./git-remote.ts";

export interface ResolvedRef {
  /** Its full id. */
  readonly commit: string;
  /** As asked, where something was asked. */
  readonly ref?: string;
  /** What is left of the address's path after the reference. */
  readonly path: string;
  /** The name under which the repository lists it. */
  readonly listed?: string;
}

export type ResolveOutcome = ({ readonly ok: true } & ResolvedRef) | FaultOutcome;

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT = /^[0-9a-f]{7,63}$/;
const LISTED = /^([0-9a-f]{40}|[0-9a-f]{64})\t(\S+)$/;
const MAX_SPLITS = 8;

export async function resolveRef(
  address: GitAddress,
  remote: GitRemote,
  context: FetchContext,
): Promise<ResolveOutcome> {
  const { ref, path } = address;
  if (ref === undefined) return resolveHead(remote, path);
  if (COMMIT_ID.test(ref)) return { ok: true, commit: ref, ref, path };
  const splits = listSplits(address);
  const listed = await listRefs(
    remote,
    splits.flatMap((split) => namesOf(split.ref).flatMap((name) => [name, `${name}^{}`])),
  );
  if (!listed.ok) return listed;
  for (const split of splits) {
    const name = namesOf(split.ref).find((one) => listed.refs.has(one));
    const commit = name === undefined ? undefined : (listed.refs.get(`${name}^{}`) ?? listed.refs.get(name));
    if (name !== undefined && commit !== undefined) return { ok: true, commit, ...split, listed: name };
  }
  if (SHORT_COMMIT.test(ref)) return resolveShort(ref, path, remote, context);
  return refuseUnknown(ref, remote);
}

/** Longest first: a page does not say where its branch ends. */
function listSplits({
  ref = "",
  path,
  splitsAnywhere,
}: GitAddress): readonly { ref: string; path: string }[] {
  if (!splitsAnywhere) return [{ ref, path }];
  const segments = path.split("/");
  const most = Math.min(segments.length, MAX_SPLITS);
  return Array.from({ length: most + 1 }, (_, index) => {
    const taken = most - index;
    return { ref: [ref, ...segments.slice(0, taken)].join("/"), path: segments.slice(taken).join("/") };
  });
}

/** A branch before a tag, as `git clone --branch` has it; a whole name is itself. */
function namesOf(ref: string): readonly string[] {
  return ref === "HEAD" || ref.startsWith("refs/") ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
}

type ListedRefs = { readonly ok: true; readonly refs: ReadonlyMap<string, string> } | FaultOutcome;

async function listRefs(remote: GitRemote, patterns: readonly string[]): Promise<ListedRefs> {
  const answer = await remote.ask({ args: ["ls-remote", "--quiet", "--", remote.url, ...patterns] });
  if (!answer.ok) return answer;
  const pairs = answer.stdout.split("\n").flatMap((line) => {
    const [, id, name] = LISTED.exec(line) ?? [];
    return id === undefined || name === undefined ? [] : [[name, id] as const];
  });
  return { ok: true, refs: new Map(pairs) };
}

async function resolveHead(remote: GitRemote, path: string): Promise<ResolveOutcome> {
  const listed = await listRefs(remote, ["HEAD"]);
  if (!listed.ok) return listed;
  const commit = listed.refs.get("HEAD");
  if (commit !== undefined) return { ok: true, commit, path, listed: "HEAD" };
  return faulty(
    "source.ref_not_found",
    `${showPath(remote.url)} has no branch that is its main one, or no commit at all.`,
    "Name a branch or a tag with `--ref`.",
  );
}

/** The beginning of a commit id: all commits are listed, without what is in them. */
async function resolveShort(
  ref: string,
  path: string,
  remote: GitRemote,
  context: FetchContext,
): Promise<ResolveOutcome> {
  const folder = join(context.into, "commits.git");
  try {
    const made = await makeRepository(remote, folder, "");
    if (!made.ok) return made;
    const heads = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
    const fetched = await remote.ask({
      args: [`--git-dir=${folder}`, "fetch", ...FETCH_QUIETLY, "--filter=tree:0", "--", remote.url, ...heads],
    });
    if (!fetched.ok) return fetched;
    const found = await remote.read({
      args: [`--git-dir=${folder}`, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`],
    });
    const commit = found.ok ? found.stdout.trim() : "";
    return COMMIT_ID.test(commit) ? { ok: true, commit, ref, path } : await refuseUnknown(ref, remote);
  } finally {
    removeFolder(folder);
  }
}

async function refuseUnknown(ref: string, remote: GitRemote): Promise<FaultOutcome> {
  const listed = await listRefs(remote, ["refs/heads/*", "refs/tags/*"]);
  if (!listed.ok) return listed;
  const names = [...listed.refs.keys()]
    .filter((name) => !name.endsWith("^{}"))
    .map((name) => name.replace(/^refs\/(?:heads|tags)\//, ""));
  const near = nearestNames(ref, names);
  const shown = near.length > 0 ? near : names.slice(0, 5);
  const which = shown.map(showPath).join(", ");
  const hint = near.length > 0 ? `Did you mean ${which}?` : `It has ${which || "no branches and no tags"}.`;
  return faulty(
    "source.ref_not_found",
    `${showPath(remote.url)} has no branch, tag or commit ${showPath(ref)}.`,
    hint,
  );
}
