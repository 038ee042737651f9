/** What no run sees, wherever its working directory lies: people's homes, Metier's own folders, and known credentials. */
import { readdirSync, realpathSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { isInside, type Places } from "../host/places.ts";

/** Below `<home>/.metier`. `skills` and `agents` are not here: their authors work in them. */
const METIER_PLACES = [
  "state",
  "store",
  "vault",
  "data",
  "cache",
  "config.toml",
  "grants.json",
  "metier.lock",
];

/** Below a home: where programs keep keys, tokens, sessions and what was typed. */
const CREDENTIAL_PLACES = [
  ".ssh",
  ".gnupg",
  ".password-store",
  ".local/share/keyrings",
  "Library/Keychains",
  ".aws",
  ".azure",
  ".boto",
  ".s3cfg",
  ".config/gcloud",
  ".config/doctl",
  ".config/rclone",
  ".config/sops",
  ".config/op",
  ".kube",
  ".docker",
  ".config/containers",
  ".terraform.d",
  ".vault-token",
  ".netrc",
  ".git-credentials",
  ".config/git/credentials",
  ".config/gh",
  ".config/glab-cli",
  ".config/hub",
  ".config/github-copilot",
  ".npmrc",
  ".yarnrc.yml",
  ".pypirc",
  ".config/pypoetry",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".bundle/config",
  ".composer/auth.json",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".nuget",
  ".pgpass",
  ".my.cnf",
  ".claude.json",
  ".claude/.credentials.json",
  ".claude/projects",
  ".codex",
  ".gemini",
  ".mozilla",
  ".thunderbird",
  ".config/google-chrome",
  ".config/chromium",
  ".config/BraveSoftware",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Firefox",
  "Library/Cookies",
  ".bash_history",
  ".zsh_history",
  ".local/share/fish",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
  ".mysql_history",
  ".viminfo",
];

/** Of the system: configuration, devices, sockets. A run has its own of each, and never these. */
const SYSTEM_FOLDERS = ["/etc", "/proc", "/sys", "/dev", "/run", "/boot"];

export interface PrivatePlaces {
  /** Of this user and of others. */
  readonly homes: readonly string[];
  /** Metier's own, config files, credentials. */
  readonly secrets: readonly string[];
}

/** Real paths of what is there; `files` are those with keys in them, wherever they lie. */
export function findPrivatePlaces(places: Places, files: readonly string[]): PrivatePlaces {
  const homes = resolveAll([places.home, homedir(), ...accountHome(), "/root", ...otherHomes()]);
  const secrets = resolveAll([
    ...METIER_PLACES.map((name) => join(places.base, name)),
    ...files,
    ...homes.flatMap(credentialPlaces),
  ]);
  return { homes: homes.filter((home) => home !== "/"), secrets };
}

/** Why a folder is not shown to a run, however it was asked for. */
export function whyPrivate(path: string, { secrets }: PrivatePlaces, places: Places): string | undefined {
  if (path === "/") return "it is the whole machine; start in a project folder";
  const system = SYSTEM_FOLDERS.find((folder) => isInside(path, folder));
  if (system) return `\`${system}\` belongs to the system`;
  if (path === resolveReal(places.base)) return "it is Metier's own folder";
  const secret = secrets.find((place) => isInside(path, place));
  return secret && `\`${secret}\` is a place for secrets`;
}

/** Only what begins with a name that is there: resolving each place in each home would cost every run a millisecond. */
function credentialPlaces(home: string): readonly string[] {
  const names = listNames(home)?.map((name) => name.toLowerCase()); // Some file systems ignore case.
  const isThere = new Set(names);
  const known =
    names && CREDENTIAL_PLACES.filter((place) => isThere.has(place.split("/", 1)[0]?.toLowerCase() ?? ""));
  return (known ?? CREDENTIAL_PLACES).map((name) => join(home, name));
}

/** What the system's own list of users says, whatever `HOME` does. */
function accountHome(): readonly string[] {
  try {
    return [userInfo().homedir];
  } catch {
    return []; // A user id without an account, as in some containers.
  }
}

function otherHomes(): readonly string[] {
  return ["/home", "/Users"].flatMap((folder) => (listNames(folder) ?? []).map((name) => join(folder, name)));
}

/** `undefined` when it is not there or must not be listed. */
function listNames(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder);
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
    return undefined; // What is not there needs no mask.
  }
}
