/**
 * A remote repository: git, the connection, and what its errors mean to the user, based on git's English output
 * (`LC_ALL=C`). Close it when done. Over `https` git uses our own proxy, which resolves each name once and dials what
 * it checked: neither the host nor a redirect can reach a private address that the user did not allow
 * (`install.private-hosts`). Over ssh and `file://` the user's keys and the file system decide.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { showPath } from "@metier/base/files";
import { isLoopbackHost } from "@metier/base/net";
import { done, type Refused, type Result } from "@metier/base/result";
import { cleanText } from "@metier/base/text";
import { addressBook, type FetchContext, privateHostHint } from "../fetch-source.ts";
import { cancelledFault, faulty, type InstallFault, type InstallFaultCode } from "../install-fault.ts";
import type { SourceLimits } from "../source-limits.ts";
import { findGit, type GitCommand, type GitOutcome, type GitReach, readCredentials } from "./git-program.ts";

export type GitAnswer = Result<string, InstallFault>;

type GitOptions = Pick<GitCommand, "stdin" | "onStdin" | "onOutput" | "onNews" | "signal">;

export interface GitRemote {
  readonly url: string;
  /** A command that talks to the repository. */
  ask(args: readonly string[], options?: GitOptions): Promise<GitAnswer>;
  /** A command on what was fetched, without network. */
  read(args: readonly string[], options?: GitOptions): Promise<GitAnswer>;
  close(): Promise<void>;
}

export async function openGitRemote(
  url: string,
  context: FetchContext,
): Promise<Result<GitRemote, InstallFault>> {
  if (context.signal?.aborted) return cancelledFault();
  const found = findGit(context);
  if (!found.ok) return found;
  const { value: git } = found;
  const opened = await openGitNetwork(url, context);
  if (!opened.ok) return opened;
  const { value: network } = opened;
  // Git shows credentials only to a server that asks for them, so they are read only then.
  const mayNeedCredentials = network.protocols.startsWith("http");
  let credentials: GitReach["credentials"] | undefined = mayNeedCredentials ? undefined : [];
  const explain = async (outcome: GitOutcome): Promise<GitAnswer> => {
    if (outcome.ended === "exited" && outcome.exitCode === 0) return done(outcome.stdout);
    const why = outcome.ended === "exited" ? await network.whyRefused() : undefined;
    if (why === undefined) return explainGitFault(outcome, url, context.limits);
    const hint = "Metier follows redirects only to public hosts.";
    return faulty("source.refused", `${showPath(url)} redirects to a refused address: ${why}`, hint);
  };
  const askOnce = async (args: readonly string[], options: GitOptions | undefined): Promise<GitAnswer> => {
    const running = git({ ...options, args, reach: { ...network, credentials: credentials ?? [] } });
    context.onWaiting?.();
    return explain(await running);
  };
  return done({
    url,
    async ask(args, options) {
      const answer = await askOnce(args, options);
      const isRefused = !answer.ok && answer.refusal.code === "source.unauthorized";
      if (!isRefused || credentials !== undefined) return answer;
      credentials = await readCredentials(git);
      return credentials.length > 0 ? askOnce(args, options) : answer;
    },
    read: async (args, options) => explain(await git({ ...options, args })),
    close: network.close,
  });
}

interface GitNetwork extends Pick<GitReach, "protocols" | "config"> {
  /** Where a refused redirect led, and why, as a sentence. */
  whyRefused(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** A server on this machine that was named as such is contacted directly, and its redirects are not followed. */
async function openGitNetwork(url: string, context: FetchContext): Promise<Result<GitNetwork, InstallFault>> {
  const parsed = /^https?:/.test(url) ? URL.parse(url) : null;
  if (parsed === null) return goDirectly(url.startsWith("file:") ? "file" : "ssh", []);
  const protocols = parsed.protocol.slice(0, -1);
  if (isLoopbackHost(parsed.hostname))
    return goDirectly(protocols, ["http.proxy=", "http.followRedirects=false"]);

  const { checkDestination, openEgressProxy, splice } = await import("@metier/sandbox/egress");
  const addresses = addressBook(parsed, context);
  // Every public host, since a repository may have moved. Other ports only if the address has them.
  const granted = ["*", ...(parsed.port === "" ? [] : [`*:${parsed.port}`])];
  const checked = await checkDestination(url, granted, addresses);
  if (!checked.ok) return refuseHost(parsed, checked.refusal.reason, checked.refusal.message);
  const turnedAway: string[] = [];
  const proxy = await openEgressProxy({
    network: granted,
    addresses,
    onRefuse: (host) => turnedAway.push(host),
  });
  const door = await openDoor(proxy.socketPath, splice);
  return done({
    protocols,
    config: [`http.proxy=http://127.0.0.1:${door.port}`, "http.followRedirects=initial"],
    async whyRefused() {
      const [host] = turnedAway;
      if (host === undefined) return undefined;
      const again = await checkDestination(`${protocols}://${host}/`, granted, addresses);
      return again.ok ? `Metier does not connect to \`${host}\` on that port.` : again.refusal.message;
    },
    async close() {
      door.close();
      await proxy.close();
    },
  });
}

function goDirectly(protocols: string, config: readonly string[]): Result<GitNetwork, InstallFault> {
  return done({ protocols, config, whyRefused: async () => undefined, close: async () => undefined });
}

function refuseHost(url: URL, reason: string, message: string): Refused<InstallFault> {
  if (reason === "unresolved")
    return faulty("source.unreachable", message, "Try again when the network is available.");
  return faulty(
    "source.refused",
    message,
    `${privateHostHint(url)} Or use ssh (\`git@host:owner/repo.git\`), or install from your own clone: \`git clone ${url.href.slice(0, 200)}\`, then \`./repo\`.`,
  );
}

/** Git supports a proxy only over TCP: a local port that leads to the proxy's socket. */
function openDoor(
  socketPath: string,
  splice: (one: Socket, other: Socket) => void,
): Promise<{ readonly port: number; close(): void }> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const inner = connect({ path: socketPath, allowHalfOpen: true });
    for (const socket of [client, inner]) {
      open.add(socket);
      socket.on("error", () => undefined); // It is then closed, together with the other side.
      socket.once("close", () => open.delete(socket));
    }
    splice(client, inner);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const close = (): void => {
        server.close();
        for (const socket of open) socket.destroy();
      };
      resolve({ port: (server.address() as AddressInfo).port, close });
    });
  });
}

/** The first match. */
const MEANINGS: readonly {
  readonly said: RegExp;
  readonly code: InstallFaultCode;
  /** Follows the address. */
  readonly what: string;
  readonly hint: string;
}[] = [
  {
    said: /Host key verification failed|No .* host key is known/,
    code: "source.unauthorized",
    what: "is on a host that ssh does not know yet",
    hint: "Connect to it once yourself (`ssh -T git@host`), compare its key with the one the host publishes, and accept it.",
  },
  {
    said: /Permission denied \(|Too many authentication failures/,
    code: "source.unauthorized",
    what: "does not accept your ssh key, or does not exist",
    hint: "Check the address, and that `ssh-add -l` shows the key you gave to the host.",
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
    what: "belongs to another user, so git refuses to read it",
    hint: "Clone it yourself and install from your clone.",
  },
  {
    said: /error: 30\d\b|unable to update url base from redirection|Protocol "\w+" (?:not supported or )?disabled|Maximum \(\d+\) redirects/i,
    code: "source.refused",
    what: "redirects to an address that Metier does not follow",
    hint: "Use the address it redirects to, if you know and trust it.",
  },
  {
    said: /not our ref|want [0-9a-f]{7,} not valid|unadvertised object|couldn't find remote ref|remote ref .* not found/,
    code: "source.ref_not_found",
    what: "does not have that commit, or no longer has it",
    hint: "Name a branch, a tag or another commit; `git ls-remote` lists them.",
  },
  {
    said: /dumb http transport/,
    code: "source.failed",
    what: "is served as plain files, so a single commit cannot be fetched",
    hint: "Clone it yourself (`git clone`) and install from your clone, as `./repo`.",
  },
  {
    said: /not found|does not exist|does not appear to be a git repository|No such file or directory|not a git repository|error: 4(?:04|10)\b|not valid: is this a git repository/i,
    code: "source.not_found",
    what: "is not a repository, or not one you can access",
    hint: "Check the address. For a private repository use ssh, or set up a credential helper.",
  },
  {
    said: /early EOF|unexpected disconnect|index-pack failed|invalid index-pack|bad pack|pack has|inflate|corrupt|truncated|missing blob|bad object|did not send all necessary|hung up unexpectedly|protocol error|expected flush|bad line length|RPC failed/i,
    code: "source.damaged",
    what: "closed the connection, or sent data that is not part of a repository",
    hint: "Try again. If it happens again, the repository or its server is damaged; run `git fsck` there.",
  },
  {
    said: /Could not resolve|Failed to connect|Couldn't connect|Connection (?:refused|reset|timed out)|Network is unreachable|No route to host|SSL|TLS|certificate|error: 5\d\d\b|Empty reply|CONNECT/i,
    code: "source.unreachable",
    what: "cannot be reached",
    hint: "Check the address and the network, then try again.",
  },
];

const MAX_SHOWN = 300;

function explainGitFault(outcome: GitOutcome, url: string, limits: SourceLimits): Refused<InstallFault> {
  const { ended, stderr, reason = "", wasIdle } = outcome;
  const which = showPath(url);
  if (wasIdle) {
    const message = `${which} sent nothing for ${showSeconds(limits.idleMs)}.`;
    return faulty("source.limited", message, "Try again later; if it happens again, the server hangs.");
  }
  if (ended === "cancelled") return cancelledFault();
  if (ended === "timeout") {
    const hint = "Try again on a faster connection, or name a path in the repository.";
    return faulty("source.limited", `${which} took longer than ${showSeconds(limits.totalMs)}.`, hint);
  }
  if (ended === "limit") {
    const hint = "Name the path of one skill in the address, so that only that is fetched.";
    return faulty("source.limited", `Fetching ${which} stopped. ${reason}`, hint);
  }
  if (ended === "refused") return faulty("source.failed", reason, "Check that git works: `git --version`.");
  const said = takeLastWords(stderr);
  const meaning = MEANINGS.find((one) => one.said.test(stderr));
  if (meaning === undefined) {
    const hint = `Try it yourself: \`git ls-remote ${url.slice(0, 200)}\`.`;
    return faulty("source.failed", `Git could not fetch ${which}: ${said}`, hint);
  }
  return faulty(meaning.code, `${which} ${meaning.what}. Git says: ${said}`, meaning.hint);
}

/** Its last message, without progress, extra whitespace and terminal control characters. */
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
