/**
 * What no run sees, wherever its working directory is: people's homes, Metier's own folders, known credentials, and
 * secrets by name in visible folders; and what it must not change there.
 */
import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { isInside, type Places } from "@metier/base/places";
import { isSecretName } from "./world.ts";

/** Inside `<home>/.metier`. Without `skills` and `agents`, where their authors work. */
const METIER_PLACES = "state store vault data cache config.toml grants.json metier.lock";

/** Inside a home: where programs store keys, tokens, sessions and command history. */
const CREDENTIAL_PLACES = `
  .ssh .gnupg .password-store .local/share/keyrings Library/Keychains .aws .azure .boto .s3cfg .config/gcloud
  .config/doctl .config/rclone .config/sops .config/op .kube .docker .config/containers .terraform.d .vault-token .netrc
  .git-credentials .config/git/credentials .config/gh .config/glab-cli .config/hub .config/github-copilot .npmrc
  .yarnrc.yml .pypirc .config/pypoetry .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config
  .composer/auth.json .m2/settings.xml .gradle/gradle.properties .nuget .pgpass .my.cnf .claude.json
  .claude/.credentials.json .claude/projects .codex .gemini .mozilla .thunderbird .config/google-chrome .config/chromium
  .config/BraveSoftware Library/Cookies .bash_history .zsh_history .local/share/fish .python_history .node_repl_history
  .psql_history .mysql_history .viminfo`;
const PLACES_WITH_BLANKS = [
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Firefox",
];

/** System folders: configuration, devices, sockets. A run has its own of each, and never these. */
const SYSTEM_FOLDERS = ["/etc", "/proc", "/sys", "/dev", "/run", "/boot"];

export interface PrivatePlaces {
  /** Of this user and others. */
  readonly homes: readonly string[];
  /** Metier's own, config files, credentials. */
  readonly secrets: readonly string[];
}

/** Real paths of what exists; `files` are those with keys in them, anywhere. */
export function findPrivatePlaces(places: Places, files: readonly string[]): PrivatePlaces {
  const homes = resolveAll([places.home, homedir(), ...accountHome(), "/root", ...otherHomes()]);
  const secrets = resolveAll([
    ...METIER_PLACES.split(" ").map((name) => join(places.base, name)),
    ...files,
    ...homes.flatMap(credentialPlaces),
  ]);
  return { homes: homes.filter((home) => home !== "/"), secrets };
}

/** Why a folder is never shown to a run. */
export function whyPrivate(path: string, { secrets }: PrivatePlaces, places: Places): string | undefined {
  if (path === "/") return "it is the whole machine; start in a project folder";
  const system = SYSTEM_FOLDERS.find((folder) => isInside(path, folder));
  if (system) return `\`${system}\` belongs to the system`;
  if (path === resolveReal(places.base)) return "it is Metier's own folder";
  const secret = secrets.find((place) => isInside(path, place));
  return secret && `\`${secret}\` is a location for secrets`;
}

const ALL_CREDENTIALS = [...CREDENTIAL_PLACES.trim().split(/\s+/), ...PLACES_WITH_BLANKS];

/** Cached by the names in a home while it does not change. */
const credentialsAmong = new WeakMap<readonly string[], readonly string[]>();

/** Only what starts with an existing name: resolving every path in each home would cost every run a millisecond. */
function credentialPlaces(home: string): readonly string[] {
  const names = listNames(home);
  const places = names === undefined ? ALL_CREDENTIALS : findCredentials(names);
  return places.map((name) => join(home, name));
}

function findCredentials(names: readonly string[]): readonly string[] {
  const known = credentialsAmong.get(names);
  if (known) return known;
  const isThere = new Set(names.map((name) => name.toLowerCase())); // Some file systems ignore case.
  const found = ALL_CREDENTIALS.filter((place) => isThere.has(place.split("/", 1)[0]?.toLowerCase() ?? ""));
  credentialsAmong.set(names, found);
  return found;
}

let account: readonly string[] | undefined;

/** From the system's user list, whatever `HOME` says. Asked once: it stays the same while a process runs. */
function accountHome(): readonly string[] {
  account ??= askAccount();
  return account;
}

function askAccount(): readonly string[] {
  try {
    return [userInfo().homedir];
  } catch {
    return []; // A user id without an account, as in some containers.
  }
}

function otherHomes(): readonly string[] {
  return ["/home", "/Users"].flatMap((folder) => (listNames(folder) ?? []).map((name) => join(folder, name)));
}

interface Listed {
  readonly stamp: string;
  readonly names: readonly string[];
}

/**
 * Listings by folder: a folder with the same timestamp has the same names, and a timestamp costs a tenth of a listing.
 */
const listed = new Map<string, Listed>();
const MOST_LISTED = 1_000;
/**
 * Timestamps are as coarse as the file system's clock: a folder that just changed may change again with the same one.
 */
const SETTLED_NS = 2_000_000_000n;

/** `undefined` if it does not exist or cannot be listed. */
function listNames(folder: string): readonly string[] | undefined {
  try {
    const { dev, ino, mtimeNs, ctimeNs } = statSync(folder, { bigint: true });
    const stamp = [dev, ino, mtimeNs, ctimeNs].join();
    const known = listed.get(folder);
    if (known?.stamp === stamp) return known.names;
    const names = readdirSync(folder);
    if (listed.size >= MOST_LISTED) listed.clear();
    if (BigInt(Date.now()) * 1_000_000n - ctimeNs > SETTLED_NS) listed.set(folder, { stamp, names });
    return names;
  } catch {
    return undefined; // This system keeps homes elsewhere, or the home is another user's.
  }
}

function resolveAll(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => resolveReal(path) ?? []))];
}

function resolveReal(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined; // What does not exist needs no mask.
  }
}

/*
 * One bounded search of a folder that a run will see: secrets by name, sockets (through which a program can reach
 * others even without a network), and files that stay read-only. Nearest folders first; follows no links.
 */

interface GuardedFiles {
  /** To be hidden. For a link, its target. */
  readonly hidden: readonly string[];
  /** To stay read-only if the folder is writable. */
  readonly guarded: readonly string[];
  /** `false`: a limit was reached, and the rest was not searched. */
  readonly complete: boolean;
}

export const MAX_SCANNED = 20_000;
/** Each becomes a mount. */
export const MAX_FOUND = 1_000;
/** Too large, and not written by the folder's owner. */
const SKIPPED = new Set([".git", "node_modules"]);

/** `isDone` names folders to skip, because they are hidden anyway or the run's own. */
export function findGuarded(root: string, isDone: (folder: string) => boolean): GuardedFiles {
  const hidden: string[] = [];
  const guarded: string[] = [];
  const pending = [root];
  let entries = 0;
  for (const folder of pending) {
    for (const entry of listEntries(folder)) {
      if (isHidden(entry)) hidden.push(...followLink(join(folder, entry.name), entry));
      else {
        guarded.push(...guardedIn(folder, entry.name));
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
          const path = join(folder, entry.name);
          if (!isDone(path)) pending.push(path);
        }
      }
      entries += 1;
      if (entries >= MAX_SCANNED || hidden.length + guarded.length >= MAX_FOUND) {
        return { hidden, guarded, complete: false };
      }
    }
  }
  return { hidden, guarded, complete: true };
}

function isHidden(entry: Dirent): boolean {
  return isSecretName(entry.name) || entry.isSocket();
}

function guardedIn(folder: string, name: string): readonly string[] {
  if (name === ".git") return protectedPathsOfGit(join(folder, name));
  return PROTECTED_NAMES.includes(name) ? [join(folder, name)] : [];
}

function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // What this user cannot list, the run cannot list either.
  }
}

function followLink(path: string, entry: Dirent): readonly string[] {
  if (!entry.isSymbolicLink()) return [path];
  try {
    return [realpathSync.native(path)];
  } catch {
    return []; // It is a broken link.
  }
}

/*
 * What stays read-only in a writable working directory: files that other programs obey, so that writing them would act
 * outside the sandbox later. Also applies while they do not exist.
 */

export const PROTECTED_NAMES: readonly string[] = [
  ".metier",
  ".claude",
  ".agents",
  ".mcp.json",
  ".envrc",
  ".vscode",
];

/** `commondir` can name another folder for hooks and config. */
const PROTECTED_IN_GIT = ["hooks", "config", "commondir"];
/** These count only if they exist: more configs, and the repositories of submodules. */
const PROTECTED_IN_GIT_IF_THERE = ["config.worktree", "modules"];

/** The placeholder where a file is needed: git fails on a folder there, and this means the repository itself. */
export const HARMLESS_FILES: Readonly<Record<string, string>> = { commondir: "././.\n" };

/** Inside one folder, whether they exist or not. */
export function protectedPathsIn(folder: string): readonly string[] {
  return [...PROTECTED_NAMES.map((name) => join(folder, name)), ...protectedPathsOfGit(join(folder, ".git"))];
}

/** If `.git` is not a folder, it is missing or names another folder: then it must not be created or changed at all. */
function protectedPathsOfGit(git: string): readonly string[] {
  if (!lstatSync(git, { throwIfNoEntry: false })?.isDirectory()) return [git];
  const present = PROTECTED_IN_GIT_IF_THERE.filter((name) => existsSync(join(git, name)));
  return [...PROTECTED_IN_GIT, ...present].map((name) => join(git, name));
}

/** The first of these that is a link: a link can be replaced, and no mount protects it. */
export function findLink(paths: readonly string[]): string | undefined {
  return paths.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
}
