/**
 * `[sandbox] programs`: what sandboxed commands find besides `/usr`. An entry is a name on the user's PATH, a file, or
 * an installation folder with `bin`. Mounted read-only; nothing that holds secrets or is shared by many programs is
 * mounted.
 */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { expandPath, isInside, type Places, realPathOr } from "@metier/base/places";
import { type CommandFinder, createCommandFinder, type Environment } from "@metier/base/programs";
import { CLIENT_NAMES } from "./inside-programs.ts";
import { runProcess } from "./process/run-process.ts";
import { findPrivatePlaces, type PrivatePlaces, whyPrivate } from "./world/private-places.ts";

export interface BroughtPrograms {
  /** Name → file; each is mounted alone. */
  readonly files: Readonly<Record<string, string>>;
  /** Installations, mounted as a whole at their own path. */
  readonly folders: readonly string[];
}

export interface FoundPrograms extends BroughtPrograms {
  /** Entries that provide nothing, with the reason. */
  readonly diagnostics: readonly Diagnostic[];
}

export const NO_PROGRAMS: BroughtPrograms = { files: {}, folders: [] };

/** What a command finds anyway. */
const SYSTEM_PATH = ["/usr/local/bin", "/usr/bin", "/bin"];
/** Metier's own, which nothing replaces. */
const OWN_NAMES: readonly string[] = ["node", ...CLIENT_NAMES];
/** In a home: folders that many programs share. */
const SHARED_FOLDERS = ["", ".local", ".local/share", ".config", ".cache"];

/** A command's PATH: single files, installations, the system. */
export function searchPath(bins: readonly string[], { folders }: BroughtPrograms): string {
  return [...new Set([...bins, ...folders.map((folder) => join(folder, "bin")), ...SYSTEM_PATH])].join(":");
}

export function findPrograms(
  entries: readonly string[],
  places: Places,
  environment: Environment,
): FoundPrograms {
  if (entries.length === 0) return { ...NO_PROGRAMS, diagnostics: [] };
  const find = createCommandFinder(environment);
  const hidden = findPrivatePlaces(places, []);
  const files = new Map<string, string>();
  const folders = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  for (const entry of entries) {
    const path = locate(entry, find, places);
    const found = path === undefined ? undefined : look(path);
    const fault = found ? whyRefused(found, hidden, places) : whyNotFound(entry);
    if (fault !== undefined || found === undefined) diagnostics.push(notBrought(entry, fault ?? ""));
    else if (found.isFolder) folders.add(found.real);
    else if (!SYSTEM_PATH.includes(dirname(found.path))) files.set(basename(found.path), found.real);
  }
  return { files: Object.fromEntries(files), folders: [...folders], diagnostics };
}

function locate(entry: string, find: CommandFinder, { home }: Places): string | undefined {
  if (isPath(entry)) return expandPath(entry, home, "/");
  return entry.includes("/") ? undefined : find(entry);
}

function isPath(entry: string): boolean {
  return isAbsolute(entry) || entry === "~" || entry.startsWith("~/");
}

interface Found {
  /** As written or looked up; its last part is the program's name. */
  readonly path: string;
  readonly real: string;
  readonly isFolder: boolean;
}

function look(path: string): Found | undefined {
  try {
    const real = realpathSync.native(path);
    return { path, real, isFolder: statSync(real).isDirectory() };
  } catch {
    return undefined; // It does not exist, or this user cannot read it.
  }
}

function whyNotFound(entry: string): string {
  if (isPath(entry)) return "it does not exist";
  if (entry.includes("/")) return "a path must be absolute, or start with `~/`";
  return "no program of that name is on your PATH";
}

function whyRefused(
  { path, real, isFolder }: Found,
  hidden: PrivatePlaces,
  places: Places,
): string | undefined {
  if (real === "/") return "it is the whole machine";
  const reason = whyPrivate(real, hidden, places);
  if (reason !== undefined) return reason;
  if (isInside(real, realPathOr(places.base))) return "it is inside Metier's own folder";
  if (isFolder) return whyNotWhole(real, hidden);
  if (OWN_NAMES.includes(basename(path))) return "Metier already provides it";
  if (basename(dirname(path)) === "shims")
    return "a shim needs more than its file; name the installation folder";
  return isExecutable(real) ? undefined : "it is not an executable file";
}

function whyNotWhole(folder: string, { homes, secrets }: PrivatePlaces): string | undefined {
  const shared = homes.flatMap((home) => SHARED_FOLDERS.map((name) => join(home, name)));
  if (homes.some((home) => isInside(home, folder)) || shared.includes(folder)) {
    return "it contains more than one program; name the program's file, or its own folder";
  }
  const secret = secrets.find((place) => isInside(place, folder));
  if (secret !== undefined)
    return `it contains \`${secret}\`, a location for secrets; name the program's file`;
  const bin = statSync(join(folder, "bin"), { throwIfNoEntry: false });
  return bin?.isDirectory() ? undefined : "it has no `bin` folder";
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    const found = statSync(file);
    return found.isFile() && (found.mode & 0o111) !== 0;
  } catch {
    return false; // If this user may not execute it, their commands may not either.
  }
}

function notBrought(entry: string, reason: string): Diagnostic {
  return {
    code: "sandbox.program-missing",
    severity: "warning",
    message: `\`${entry}\` in \`sandbox.programs\` is not available in the sandbox: ${reason}.`,
    path: "",
    hint: "Use a name on your PATH, the path of a program, or an installation folder with a `bin` folder.",
  };
}

/*
 * Queries Debian's own programs about packages: which are installed, and which the archive has. Only queries; `metier
 * setup` installs. Names must have passed `isPackageName`, so that none reads as an option or a pattern.
 */

const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 4 * 1024 * 1024 };

/** `undefined` if there is no `dpkg-query`, so nobody knows. */
export async function findInstalledPackages(
  names: readonly string[],
  environment: Environment,
): Promise<ReadonlySet<string> | undefined> {
  const format = `--showformat=\${db:Status-Status}\\t\${Package}\\n`;
  const lines = await ask("dpkg-query", ["-W", format, "--", ...names], names, environment);
  return lines && new Set(lines.flatMap((line) => /^installed\t(.+)$/.exec(line)?.[1] ?? []));
}

/** Those that could be installed now; `undefined` if there is no `apt-cache`. */
export async function findArchivePackages(
  names: readonly string[],
  environment: Environment,
): Promise<ReadonlySet<string> | undefined> {
  const lines = await ask("apt-cache", ["policy", "--", ...names], names, environment);
  if (!lines) return undefined;
  const found = new Set<string>();
  let name = "";
  for (const line of lines) {
    name = /^(\S+):$/.exec(line)?.[1] ?? name;
    if (/^ {2}Candidate: (?!\(none\))/.test(line)) found.add(name);
  }
  return found;
}

/** Unknown names make these programs exit with 1, but they still answer for the others. */
async function ask(
  program: string,
  args: readonly string[],
  names: readonly string[],
  environment: Environment,
): Promise<readonly string[] | undefined> {
  const found = createCommandFinder(environment)(program);
  if (found === undefined) return undefined;
  if (names.length === 0) return [];
  const env = { PATH: environment.PATH ?? "", LC_ALL: "C" };
  const outcome = await runProcess({ program: found, args, env, limits: LIMITS });
  return outcome.ended === "exited" ? outcome.stdout.split("\n") : undefined;
}
