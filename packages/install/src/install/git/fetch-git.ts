/**
 * A git repository as a source: a branch, tag or commit becomes the one commit it is at this moment, by what the repository
 * itself lists; that commit and nothing else is fetched into a bare repository of our own beside the tree, its files are
 * written out, and the repository goes. Nothing is checked out and nothing of it is executed.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, showPath } from "@metier/base/files";
import { done, type Refused, type Result } from "@metier/base/result";
import { nearestNames } from "@metier/base/text";
import { moveGit } from "../addresses/address-parts.ts";
import type { GitAddress } from "../addresses/source-address.ts";
import type { FetchContext, SourceFetch } from "../fetch-source.ts";
import { faulty, type InstallFault } from "../install-fault.ts";
import { type GitAnswer, type GitRemote, openGitRemote } from "./git-remote.ts";
import { listTree, type TreeEntry, writeTree } from "./write-tree.ts";

export async function fetchGit(address: GitAddress, context: FetchContext): Promise<SourceFetch> {
  return withRemote(address, context, async (remote) => {
    try {
      return await fetchFrom(remote, address, context);
    } finally {
      removeFolder(repositoryIn(context));
    }
  });
}

async function fetchFrom(
  remote: GitRemote,
  address: GitAddress,
  context: FetchContext,
): Promise<SourceFetch> {
  context.onProgress?.({ what: "Resolving the reference" });
  const [resolved, made] = await Promise.all([
    resolveRef(address, remote, context),
    fetchAhead(address, remote, repositoryIn(context)),
  ]);
  if (!resolved.ok) return resolved;
  return made.ok ? fetchResolved(address, resolved.value, remote, context) : made;
}

/**
 * What is most often meant is fetched while the repository is asked what it is. Only what it lists counts: should that be
 * another commit by then, or should this fail, it is fetched as if nothing was.
 */
async function fetchAhead(address: GitAddress, remote: GitRemote, folder: string): Promise<GitAnswer> {
  const made = await makeRepository(remote, folder, SHA1_LENGTH);
  const isPlain = address.ref === undefined && address.path === "";
  if (made.ok && isPlain) await remote.ask([...fetchInto(folder), "--depth=1", "--", remote.url, "HEAD"]);
  return made;
}

/** Which commit the address means now, without fetching it: what `outdated` needs to know. */
export async function resolveGit(
  address: GitAddress,
  context: FetchContext,
): Promise<Result<ResolvedRef, InstallFault>> {
  return withRemote(address, context, (remote) => resolveRef(address, remote, context));
}

async function withRemote<Value>(
  address: GitAddress,
  context: FetchContext,
  use: (remote: GitRemote) => Promise<Result<Value, InstallFault>>,
): Promise<Result<Value, InstallFault>> {
  const opened = await openGitRemote(address.url, context);
  if (!opened.ok) return opened;
  try {
    return await use(opened.value);
  } finally {
    await opened.value.close();
  }
}

function repositoryIn({ into }: FetchContext): string {
  return join(into, "repository.git");
}

async function fetchResolved(
  address: GitAddress,
  resolved: ResolvedRef,
  remote: GitRemote,
  context: FetchContext,
): Promise<SourceFetch> {
  const { into } = context;
  const { commit, ref, path } = resolved;
  const repository = repositoryIn(context);
  const folder = join(into, "tree");
  const held = await fetchObjects(resolved, remote, repository);
  if (!held.ok) return held;
  mkdirSync(folder);
  const written = await writeTree(remote, repository, held.value, folder, context);
  if (!written.ok) return written;
  const { canonical } = moveGit(address, { ref, path });
  return done({
    folder,
    resolved: commit,
    ref,
    canonical,
    paths: path === "" ? undefined : [path],
    diagnostics: written.value,
  });
}

/** All that is below the path: of a part of the repository the names first, and then the files that are wanted. */
async function fetchObjects(
  resolved: ResolvedRef,
  remote: GitRemote,
  repository: string,
): Promise<Result<readonly TreeEntry[], InstallFault>> {
  const { commit, path } = resolved;
  const isWhole = path === "";
  const isAhead = isWhole && resolved.ref === undefined;
  const ahead = isAhead ? await listCommit(resolved, remote, repository) : undefined;
  if (ahead?.ok) return ahead;
  const missing = await fetchCommit(remote, repository, resolved, isWhole);
  if (missing) return missing;
  const listed = await listCommit(resolved, remote, repository);
  if (!listed.ok || isWhole) return listed;
  const ids = listed.value.filter(({ kind }) => kind !== "submodule").map(({ id }) => id);
  const incomplete = await fetchFiles(remote, repository, [...new Set(ids)]);
  if (incomplete?.refusal.code !== "source.ref_not_found") return incomplete ?? listed;
  removeFolder(repository); // Servers of the old protocol give out no single files.
  const failed = await fetchCommit(remote, repository, resolved, true);
  return failed ?? (await refuseAbsent(remote, repository, commit)) ?? listed;
}

/** The names in a commit that is there. */
async function listCommit(
  { commit, path }: ResolvedRef,
  remote: GitRemote,
  repository: string,
): Promise<Result<readonly TreeEntry[], InstallFault>> {
  const [absent, listed] = await Promise.all([
    refuseAbsent(remote, repository, commit),
    listTree(remote, repository, commit, path),
  ]);
  return absent ?? listed;
}

interface ResolvedRef {
  /** Its full id. */
  readonly commit: string;
  /** As asked, where something was asked. */
  readonly ref?: string | undefined;
  /** What is left of the address's path after the reference. */
  readonly path: string;
  /** The name under which the repository lists it. */
  readonly listed?: string;
}

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT = /^[0-9a-f]{7,63}$/;
const LISTED = /^([0-9a-f]{40}|[0-9a-f]{64})\t(\S+)$/;
const MAX_SPLITS = 8;

async function resolveRef(
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

/** A branch before a tag, as `git clone --branch` has it; a whole name is itself. */
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
  const message = `${showPath(remote.url)} has no branch that is its main one, or no commit at all.`;
  return faulty("source.ref_not_found", message, "Name a branch or a tag with `--ref`.");
}

/** The beginning of a commit id: all commits are listed, without what is in them. */
async function resolveShort(
  ref: string,
  path: string,
  remote: GitRemote,
  context: FetchContext,
): Promise<Result<ResolvedRef, InstallFault>> {
  const folder = join(context.into, "commits.git");
  try {
    const made = await makeRepository(remote, folder, SHA1_LENGTH);
    if (!made.ok) return made;
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

function fetchInto(folder: string): readonly string[] {
  return [
    `--git-dir=${folder}`,
    "fetch",
    "--progress",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--no-write-fetch-head",
  ];
}

/** The full id of a commit that is there by now; nothing for one that is not. */
async function findCommit(remote: GitRemote, folder: string, ref: string): Promise<string> {
  const args = [`--git-dir=${folder}`, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
  const found = await remote.read(args);
  return found.ok ? found.value.trim() : "";
}
/** Files come later and only those that are wanted. A server that cannot do so sends them all. */
const WITHOUT_FILES = "--filter=blob:none";

const SHA1_LENGTH = 40;

/** How long ids are tells which kind of them the repository has. */
function makeRepository(remote: GitRemote, folder: string, idLength: number): Promise<GitAnswer> {
  const format = idLength > SHA1_LENGTH ? "sha256" : "sha1";
  return remote.read(["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, folder]);
}

/** `withFiles`: whether everything in it comes along, or the names alone. A repository that was made is used. */
async function fetchCommit(
  remote: GitRemote,
  folder: string,
  { commit, listed }: ResolvedRef,
  withFiles: boolean,
): Promise<Refused<InstallFault> | undefined> {
  if (commit.length > SHA1_LENGTH) removeFolder(folder); // Made before that was known.
  if (!existsSync(folder)) {
    const made = await makeRepository(remote, folder, commit.length);
    if (!made.ok) return made;
  }
  const filter = withFiles ? [] : [WITHOUT_FILES];
  const fetch = (what: string): Promise<GitAnswer> =>
    remote.ask([...fetchInto(folder), "--depth=1", ...filter, "--", remote.url, what]);
  let fetched = await fetch(commit);
  // Servers of the old protocol give out only what they list by name.
  if (!fetched.ok && fetched.refusal.code === "source.ref_not_found" && listed !== undefined)
    fetched = await fetch(listed);
  return fetched.ok ? undefined : fetched;
}

async function refuseAbsent(
  remote: GitRemote,
  folder: string,
  commit: string,
): Promise<Refused<InstallFault> | undefined> {
  if ((await findCommit(remote, folder, commit)) === commit) return undefined;
  return faulty(
    "source.damaged",
    `${showPath(remote.url)} did not send the commit \`${commit}\` that it listed; it may have changed meanwhile.`,
    "Try again.",
  );
}

/** Those of the given files that are not there yet, in one go. */
async function fetchFiles(
  remote: GitRemote,
  folder: string,
  ids: readonly string[],
): Promise<Refused<InstallFault> | undefined> {
  if (ids.length === 0) return undefined;
  const args = [...fetchInto(folder), WITHOUT_FILES, "--stdin", "--", remote.url];
  const fetched = await remote.ask(args, { stdin: `${ids.join("\n")}\n` });
  return fetched.ok ? undefined : fetched;
}
