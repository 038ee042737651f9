/** One commit and nothing else into a bare repository of our own: no history, no tags, no work tree, nothing checked out. */
import { showPath } from "../../host/contained-path.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import type { GitAnswer, GitRemote } from "./git-remote.ts";
import type { ResolvedRef } from "./resolve-ref.ts";

export const FETCH_QUIETLY: readonly string[] = [
  "--progress",
  "--no-tags",
  "--no-recurse-submodules",
  "--no-auto-maintenance",
  "--no-write-fetch-head",
];
/** Files come later and only those that are wanted. A server that cannot do so sends them all. */
const WITHOUT_FILES = "--filter=blob:none";

/** `commit` tells which kind of ids the repository has. */
export function makeRepository(remote: GitRemote, folder: string, commit: string): Promise<GitAnswer> {
  const format = commit.length === 64 ? "sha256" : "sha1";
  return remote.read({
    args: ["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, folder],
  });
}

/** `withFiles`: whether everything in it comes along, or the names alone. */
export async function fetchCommit(
  remote: GitRemote,
  folder: string,
  { commit, listed }: ResolvedRef,
  withFiles: boolean,
): Promise<FaultOutcome | undefined> {
  const made = await makeRepository(remote, folder, commit);
  if (!made.ok) return made;
  const fetch = (what: string): Promise<GitAnswer> => {
    const filter = withFiles ? [] : [WITHOUT_FILES];
    return remote.ask({
      args: [
        `--git-dir=${folder}`,
        "fetch",
        ...FETCH_QUIETLY,
        "--depth=1",
        ...filter,
        "--",
        remote.url,
        what,
      ],
    });
  };
  let fetched = await fetch(commit);
  // Servers of the old protocol give out only what they list by name.
  if (!fetched.ok && fetched.fault.code === "source.ref_not_found" && listed !== undefined)
    fetched = await fetch(listed);
  if (!fetched.ok) return fetched;
  const there = await remote.read({
    args: [`--git-dir=${folder}`, "rev-parse", "--verify", "--quiet", `${commit}^{commit}`],
  });
  if (there.ok && there.stdout.trim() === commit) return undefined;
  return faulty(
    "source.damaged",
    `${showPath(remote.url)} did not send the commit \`${commit}\` that it listed; it may have changed meanwhile.`,
    "Try again.",
  );
}

/** Those of the given files that are not there yet, in one go. */
export async function fetchFiles(
  remote: GitRemote,
  folder: string,
  ids: readonly string[],
): Promise<FaultOutcome | undefined> {
  if (ids.length === 0) return undefined;
  const args = [`--git-dir=${folder}`, "fetch", ...FETCH_QUIETLY, WITHOUT_FILES, "--stdin", "--", remote.url];
  const fetched = await remote.ask({ args, stdin: `${ids.join("\n")}\n` });
  return fetched.ok ? undefined : fetched;
}
