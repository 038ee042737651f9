/** What git's failure means to the user, and what to do about it. Git speaks English to us (`LC_ALL=C`). */
import { cleanText } from "../../disclose/clean-text.ts";
import { showPath } from "../../host/contained-path.ts";
import { cancelledFault, type FaultOutcome, faulty, type InstallFaultCode } from "../install-fault.ts";
import type { SourceLimits } from "../source-limits.ts";
import type { GitOutcome } from "./git-program.ts";

interface Meaning {
  readonly said: RegExp;
  readonly code: InstallFaultCode;
  /** Follows the address. */
  readonly what: string;
  readonly hint: string;
}

/** The first that fits. */
const MEANINGS: readonly Meaning[] = [
  {
    said: /Host key verification failed|No .* host key is known/,
    code: "source.unauthorized",
    what: "has a host that ssh does not know yet",
    hint: "Connect to it once by hand (`ssh -T git@host`), compare its key with the one the host publishes, and accept it.",
  },
  {
    said: /Permission denied \(|Too many authentication failures/,
    code: "source.unauthorized",
    what: "does not take your ssh key, or does not exist",
    hint: "Check the address, and that `ssh-add -l` shows the key that you gave to the host.",
  },
  {
    said: /cannot run ssh|ssh: not found|unable to fork.*ssh/,
    code: "source.failed",
    what: "needs ssh, which is not installed",
    hint: "Install it (`sudo apt-get install openssh-client`), or use the `https://` address.",
  },
  {
    said: /could not read (?:Username|Password)|Authentication failed|terminal prompts disabled|error: 40[13]\b/,
    code: "source.unauthorized",
    what: "does not exist, or is private and git has no credentials for it",
    hint: "Check the address. For a private repository set up a credential helper (`gh auth setup-git`, `git config --global credential.helper …`) or use ssh: `git@host:owner/repo.git`.",
  },
  {
    said: /dubious ownership/,
    code: "source.refused",
    what: "belongs to another user, so git does not read it",
    hint: "Clone it yourself and install from your clone.",
  },
  {
    said: /error: 30\d\b|unable to update url base from redirection|Protocol "\w+" (?:not supported or )?disabled|Maximum \(\d+\) redirects/i,
    code: "source.refused",
    what: "redirects to somewhere that is not followed",
    hint: "Give the address it leads to, if you know and trust it.",
  },
  {
    said: /not our ref|want [0-9a-f]{7,} not valid|unadvertised object|couldn't find remote ref|remote ref .* not found/,
    code: "source.ref_not_found",
    what: "does not have that commit, or has it no more",
    hint: "Name a branch or a tag, or another commit; `git ls-remote` shows what there is.",
  },
  {
    said: /dumb http transport/,
    code: "source.failed",
    what: "is served as plain files, from which one commit alone cannot be fetched",
    hint: "Clone it yourself (`git clone`) and install from your clone, as `./repo`.",
  },
  {
    said: /not found|does not exist|does not appear to be a git repository|No such file or directory|not a git repository|error: 4(?:04|10)\b|not valid: is this a git repository/i,
    code: "source.not_found",
    what: "is no repository, or none that you may see",
    hint: "Check the address. For a private repository use ssh, or set up a credential helper.",
  },
  {
    said: /early EOF|unexpected disconnect|index-pack failed|invalid index-pack|bad pack|pack has|inflate|corrupt|truncated|missing blob|bad object|did not send all necessary|hung up unexpectedly|protocol error|expected flush|bad line length|RPC failed/i,
    code: "source.damaged",
    what: "broke off, or sent something that is no part of a repository",
    hint: "Try again. If it happens again, the repository or its server is damaged; `git fsck` there tells more.",
  },
  {
    said: /Could not resolve|Failed to connect|Couldn't connect|Connection (?:refused|reset|timed out)|Network is unreachable|No route to host|SSL|TLS|certificate|error: 5\d\d\b|Empty reply|CONNECT/i,
    code: "source.unreachable",
    what: "cannot be reached",
    hint: "Check the address and the network, then try again.",
  },
];

const MAX_SHOWN = 300;

export function explainGitFault(outcome: GitOutcome, url: string, limits: SourceLimits): FaultOutcome {
  const { ended, stderr, reason = "", wasIdle } = outcome;
  const which = showPath(url);
  if (wasIdle) {
    return faulty(
      "source.limited",
      `${which} sent nothing for ${showSeconds(limits.idleMs)}.`,
      "Try again later; if it goes on, the server hangs.",
    );
  }
  if (ended === "cancelled") return cancelledFault();
  if (ended === "timeout") {
    return faulty(
      "source.limited",
      `${which} took longer than ${showSeconds(limits.totalMs)}.`,
      "Try again on a faster connection, or name a path in the repository.",
    );
  }
  if (ended === "limit") {
    return faulty(
      "source.limited",
      `Fetching ${which} was stopped. ${reason}`,
      "Name the path of one skill in the address, so that the rest is not fetched.",
    );
  }
  if (ended === "refused") return faulty("source.failed", reason, "Check that git works: `git --version`.");
  const said = takeLastWords(stderr);
  const meaning = MEANINGS.find((one) => one.said.test(stderr));
  if (meaning === undefined) {
    return faulty(
      "source.failed",
      `Git could not fetch ${which}: ${said}`,
      `Try it by hand: \`git ls-remote ${url.slice(0, 200)}\`.`,
    );
  }
  return faulty(meaning.code, `${which} ${meaning.what}. Git says: ${said}`, meaning.hint);
}

/** What it said at last, without progress, blanks and whatever acts on a terminal. */
function takeLastWords(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).map((line) => line.trim());
  const faults = lines.filter((line) => /^(?:fatal|error|ssh|remote: (?:fatal|error)|ERROR)\b/.test(line));
  const words = (faults.length > 0 ? faults : lines.filter(Boolean)).slice(0, 2).join("; ");
  const plain = cleanText(words).text.replace(/\s+/g, " ");
  if (plain === "") return "nothing";
  return plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN)}…` : plain;
}

function showSeconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} seconds`;
}
