/** A repository to be asked: git, the way to it, and what its failures mean. Closed when nothing more is wanted from it. */

import { showPath } from "../../host/contained-path.ts";
import type { FetchContext } from "../fetch-source.ts";
import { cancelledFault, type FaultOutcome, faulty } from "../install-fault.ts";
import { explainGitFault } from "./git-fault.ts";
import { openGitNetwork } from "./git-network.ts";
import { findGit, type GitCommand, type GitOutcome } from "./git-program.ts";
import { readCredentials } from "./user-credentials.ts";

export type GitAnswer = { readonly ok: true; readonly stdout: string } | FaultOutcome;

export interface GitRemote {
  readonly url: string;
  /** A command that talks to the repository. */
  ask(command: Omit<GitCommand, "reach">): Promise<GitAnswer>;
  /** A command on what was fetched, which reaches nothing. */
  read(command: Omit<GitCommand, "reach">): Promise<GitAnswer>;
  close(): Promise<void>;
}

export async function openGitRemote(
  url: string,
  context: FetchContext,
): Promise<{ readonly ok: true; readonly remote: GitRemote } | FaultOutcome> {
  if (context.signal?.aborted) return cancelledFault();
  const found = findGit(context);
  if (!found.ok) return found;
  const { git } = found;
  const opened = await openGitNetwork(url, context);
  if (!opened.ok) return opened;
  const { network } = opened;
  const credentials = network.protocols.startsWith("http") ? await readCredentials(git) : [];
  const explain = async (outcome: GitOutcome): Promise<GitAnswer> => {
    if (outcome.ended === "exited" && outcome.exitCode === 0) return { ok: true, stdout: outcome.stdout };
    const refused = outcome.ended === "exited" ? await network.whyRefused() : undefined;
    if (refused === undefined) return explainGitFault(outcome, url, context.limits);
    return faulty(
      "source.refused",
      `${showPath(url)} redirects to a place that is refused: ${refused}`,
      "Redirects are followed to public hosts only.",
    );
  };
  return {
    ok: true,
    remote: {
      url,
      ask: async (command) => explain(await git.run({ ...command, reach: { ...network, credentials } })),
      read: async (command) => explain(await git.run(command)),
      close: network.close,
    },
  };
}
