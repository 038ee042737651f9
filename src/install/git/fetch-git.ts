/**
 * A git repository as a source: the reference becomes a commit, the commit is fetched into a bare repository beside the
 * tree, its files are written out, and the repository goes. Nothing is checked out and nothing of it is executed.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "../../host/remove-folder.ts";
import { moveGit } from "../addresses/git-address.ts";
import type { FetchContext, FetchOutcome } from "../fetch-source.ts";
import type { FaultOutcome } from "../install-fault.ts";
import type { GitAddress } from "../source-address.ts";
import { fetchCommit, fetchFiles } from "./fetch-commit.ts";
import { type GitRemote, openGitRemote } from "./git-remote.ts";
import { listTree, type TreeOutcome } from "./list-tree.ts";
import { type ResolvedRef, type ResolveOutcome, resolveRef } from "./resolve-ref.ts";
import { writeTree } from "./write-tree.ts";

export async function fetchGit(address: GitAddress, context: FetchContext): Promise<FetchOutcome> {
  return withRemote(address, context, async (remote) => {
    context.onProgress?.({ what: "Resolving the reference" });
    const resolved = await resolveRef(address, remote, context);
    return resolved.ok ? fetchResolved(address, resolved, remote, context) : resolved;
  });
}

/** Which commit the address means now, without fetching it: what `outdated` needs to know. */
export async function resolveGit(address: GitAddress, context: FetchContext): Promise<ResolveOutcome> {
  return withRemote(address, context, (remote) => resolveRef(address, remote, context));
}

async function withRemote<Outcome>(
  address: GitAddress,
  context: FetchContext,
  use: (remote: GitRemote) => Promise<Outcome>,
): Promise<Outcome | FaultOutcome> {
  const opened = await openGitRemote(address.url, context);
  if (!opened.ok) return opened;
  try {
    return await use(opened.remote);
  } finally {
    await opened.remote.close();
  }
}

async function fetchResolved(
  address: GitAddress,
  resolved: ResolvedRef,
  remote: GitRemote,
  { into, limits }: FetchContext,
): Promise<FetchOutcome> {
  const { commit, ref, path } = resolved;
  const repository = join(into, "repository.git");
  const folder = join(into, "tree");
  try {
    const held = await fetchObjects(resolved, remote, repository);
    if (!held.ok) return held;
    mkdirSync(folder);
    const written = await writeTree(remote, repository, held.entries, folder, limits);
    if (!written.ok) return written;
    const asked = ref === undefined ? {} : { ref };
    const { canonical } = moveGit(address, { ...asked, path });
    const paths = path === "" ? {} : { paths: [path] };
    const { diagnostics } = written;
    return { ok: true, source: { folder, resolved: commit, ...asked, canonical, ...paths, diagnostics } };
  } finally {
    removeFolder(repository);
  }
}

/** All that is below the path: of a part of the repository the names first, and then the files that are wanted. */
async function fetchObjects(
  resolved: ResolvedRef,
  remote: GitRemote,
  repository: string,
): Promise<TreeOutcome> {
  const { commit, path } = resolved;
  const isWhole = path === "";
  const missing = await fetchCommit(remote, repository, resolved, isWhole);
  if (missing) return missing;
  const listed = await listTree(remote, repository, commit, path);
  if (!listed.ok || isWhole) return listed;
  const ids = listed.entries.filter(({ kind }) => kind !== "submodule").map(({ id }) => id);
  const incomplete = await fetchFiles(remote, repository, [...new Set(ids)]);
  if (incomplete?.fault.code !== "source.ref_not_found") return incomplete ?? listed;
  removeFolder(repository); // Servers of the old protocol give out no single files.
  return (await fetchCommit(remote, repository, resolved, true)) ?? listed;
}
