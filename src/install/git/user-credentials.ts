/**
 * How the user signs in to hosts: the `credential.*` settings of their own git config, and nothing else of it. The helpers
 * they name are programs the user chose for every clone; a source has no say in them.
 */
import type { GitProgram, GitReach } from "./git-program.ts";

export async function readCredentials(git: GitProgram): Promise<GitReach["credentials"]> {
  const { ended, exitCode, stdout } = await git.run({
    args: ["config", "--null", "--get-regexp", "^credential\\."],
    readsUserConfig: true,
  });
  if (ended !== "exited" || exitCode !== 0) return []; // There are none.
  return stdout.split("\0").flatMap((entry) => {
    const end = entry.indexOf("\n");
    return end === -1 ? [] : [[entry.slice(0, end), entry.slice(end + 1)] as const];
  });
}
