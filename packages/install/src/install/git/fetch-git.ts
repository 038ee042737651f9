/**
 * A git repository as a source: fetches only the one commit that an address means right now into our own bare
 * repository next to the tree, writes its files, and deletes the repository. Nothing is checked out or executed. A
 * local repository is read in place.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "@metier/base/files";
import { done, type Refused, type Result } from "@metier/base/result";
import { moveGit } from "../addresses/address-parts.ts";
import type { GitAddress } from "../addresses/source-address.ts";
import type { FetchContext, SourceFetch } from "../fetch-source.ts";
import type { InstallFault, InstallFaultCode } from "../install-fault.ts";
import { fetchInto, makeRepository } from "./fetch-into.ts";
import { type GitObjects, openObjects, SHA1_LENGTH, withFound } from "./git-objects.ts";
import { type GitAnswer, type GitRemote, openGitRemote } from "./git-remote.ts";
import { findObjects, lendObjects } from "./lent-objects.ts";
import { listTree, type TreeEntry } from "./list-tree.ts";
import { type ResolvedRef, resolveRef } from "./resolve-ref.ts";
import { type TreeAhead, writeTreeAhead } from "./tree-ahead.ts";
import { writeTree } from "./write-tree.ts";

export async function fetchGit(address: GitAddress, context: FetchContext): Promise<SourceFetch> {
  return withRemote(address, context, async (remote) => {
    const repository = holdRepository(remote, join(context.into, "repository.git"));
    try {
      return await fetchFrom(address, repository, context);
    } finally {
      await repository.remove();
    }
  });
}

async function fetchFrom(
  address: GitAddress,
  repository: HeldRepository,
  context: FetchContext,
): Promise<SourceFetch> {
  const { remote } = repository;
  context.onProgress?.({ what: "Resolving the reference" });
  const lent = findObjects(remote.url);
  if (lent !== undefined) {
    repository.make(SHA1_LENGTH);
    lendObjects(lent, repository.folder);
    repository.objects(); // Git starts in the meantime.
  }
  const ahead = lent === undefined ? await fetchAhead(address, repository, context) : done(undefined);
  if (!ahead.ok) return ahead;
  const resolved = ahead.value ? done(ahead.value) : await resolveRef(address, remote, context);
  return resolved.ok ? fetchResolved(address, resolved.value, repository, context) : resolved;
}

/** The repository of one fetch, at most one at a time, and its object reader. */
interface HeldRepository {
  readonly remote: GitRemote;
  readonly folder: string;
  isThere(): boolean;
  /** The length of ids shows their kind. */
  make(idLength: number): void;
  /** While it exists. */
  objects(): GitObjects;
  /** It is new: what a fetch brings is used while it comes. */
  writeAhead(into: string, context: FetchContext): TreeAhead;
  /** What `writeAhead` made of it. */
  ahead(): TreeAhead | undefined;
  remove(): Promise<void>;
}

function holdRepository(remote: GitRemote, folder: string): HeldRepository {
  let objects: GitObjects | undefined;
  let ahead: TreeAhead | undefined;
  const open = (): GitObjects => openObjects(remote, folder);
  return {
    remote,
    folder,
    isThere: () => existsSync(folder),
    make: (idLength) => makeRepository(folder, idLength),
    objects() {
      objects ??= ahead ? withFound(ahead.find, open) : open();
      return objects;
    },
    writeAhead(into, context) {
      ahead = writeTreeAhead(folder, into, context);
      return ahead;
    },
    ahead: () => ahead,
    async remove() {
      await objects?.close();
      ahead?.close();
      [objects, ahead] = [undefined, undefined];
      removeFolder(folder);
    },
  };
}

/** The folder of what is written ahead. */
const AHEAD = "ahead";

/** Asking again would give the same result, or take as long again. */
const FINAL: ReadonlySet<InstallFaultCode> = new Set<InstallFaultCode>([
  "cancelled",
  "source.limited",
  "source.refused",
  "source.unauthorized",
  "source.unreachable",
]);

/**
 * Fetches the most likely commit at once instead of asking first: the repository lists it before sending it, and git
 * records that. `undefined` if something else is meant, or it must be asked after all.
 */
async function fetchAhead(
  address: GitAddress,
  repository: HeldRepository,
  context: FetchContext,
): Promise<Result<ResolvedRef | undefined, InstallFault>> {
  const { remote, folder } = repository;
  if (address.ref !== undefined || address.path !== "") return done(undefined);
  repository.make(SHA1_LENGTH);
  const ahead = repository.writeAhead(join(context.into, AHEAD), context);
  const args = [...fetchInto(folder), "--depth=1", "--", remote.url, "HEAD"];
  const fetched = await remote.ask(args, { onNews: () => ahead.look() });
  if (!fetched.ok) {
    await repository.remove(); // What was written ahead is then not used: git did not accept what it is from.
    return FINAL.has(fetched.refusal.code) ? fetched : done(undefined);
  }
  ahead.look(true);
  const commit = /^[0-9a-f]+(?=\t)/.exec(readFileSync(join(folder, "FETCH_HEAD"), "latin1"))?.[0];
  return done(commit === undefined ? undefined : { commit, path: "", listed: "HEAD" });
}

/** Which commit the address means now, without fetching it; needed by `outdated`. */
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

async function fetchResolved(
  address: GitAddress,
  resolved: ResolvedRef,
  repository: HeldRepository,
  context: FetchContext,
): Promise<SourceFetch> {
  const { commit, ref, path } = resolved;
  const { remote } = repository;
  const held = await fetchObjects(resolved, repository);
  if (!held.ok) return held;
  const into = join(context.into, "tree");
  const started = repository.ahead()?.started();
  const objects = repository.objects();
  const startOver = async (): Promise<void> => {
    await context.startOver?.();
    removeFolder(join(context.into, AHEAD));
  };
  const written = await writeTree(objects, remote.url, held.value, into, { ...context, startOver }, started);
  if (!written.ok) return written;
  const { canonical } = moveGit(address, { ref, path });
  return done({
    ...written.value,
    resolved: commit,
    ref,
    canonical,
    paths: path === "" ? undefined : [path],
  });
}

/** Everything under the path: for part of the repository, names first, then the wanted files. */
async function fetchObjects(
  resolved: ResolvedRef,
  repository: HeldRepository,
): Promise<Result<readonly TreeEntry[], InstallFault>> {
  const { commit, path, listed: name } = resolved;
  const isWhole = path === "";
  const list = (): Promise<Result<readonly TreeEntry[], InstallFault>> =>
    listTree(repository.objects(), repository.remote.url, commit, path);
  // From a local repository only what it listed: git does that if the owner's files may be read.
  const there = repository.isThere() && name !== undefined ? await list() : undefined;
  if (there !== undefined && (there.ok || there.refusal.code !== "source.damaged")) return there;
  const missing = await fetchCommit(repository, resolved, isWhole);
  if (missing) return missing;
  const listed = await list();
  if (!listed.ok || isWhole) return listed;
  const ids = listed.value.filter(({ kind }) => kind !== "submodule").map(({ id }) => id);
  const incomplete = await fetchFiles(repository, [...new Set(ids)]);
  // Servers with the old protocol do not send single files.
  if (incomplete?.refusal.code !== "source.ref_not_found") return incomplete ?? listed;
  return (await fetchCommit(repository, resolved, true)) ?? list();
}

/** Files are fetched later, and only the wanted ones. A server that cannot do this sends all. */
const WITHOUT_FILES = "--filter=blob:none";

/** Into a new repository. `withFiles`: whether to fetch the contents too, or only the names. */
async function fetchCommit(
  repository: HeldRepository,
  { commit, listed }: ResolvedRef,
  withFiles: boolean,
): Promise<Refused<InstallFault> | undefined> {
  const { remote, folder } = repository;
  await repository.remove();
  repository.make(commit.length);
  const filter = withFiles ? [] : [WITHOUT_FILES];
  const fetch = (what: string): Promise<GitAnswer> =>
    remote.ask([...fetchInto(folder), "--depth=1", ...filter, "--", remote.url, what]);
  let fetched = await fetch(commit);
  // Servers with the old protocol send only what they list by name.
  if (!fetched.ok && fetched.refusal.code === "source.ref_not_found" && listed !== undefined)
    fetched = await fetch(listed);
  return fetched.ok ? undefined : fetched;
}

/** The given files that are still missing, in one request. */
async function fetchFiles(
  { remote, folder }: HeldRepository,
  ids: readonly string[],
): Promise<Refused<InstallFault> | undefined> {
  if (ids.length === 0) return undefined;
  const args = [...fetchInto(folder), WITHOUT_FILES, "--stdin", "--", remote.url];
  const fetched = await remote.ask(args, { stdin: `${ids.join("\n")}\n` });
  return fetched.ok ? undefined : fetched;
}
