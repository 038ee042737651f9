/**
 * The folders Metier uses. `--home DIR` or `METIER_HOME` replaces the OS home everywhere, so every
 * path below a home is made here and nowhere else.
 */
import { homedir } from "node:os";
import { join, resolve, sep } from "node:path";

export interface Places {
  /** The user's home, or what replaces it. */
  readonly home: string;
  /** `<home>/.metier` */
  readonly base: string;
  readonly configFile: string;
  readonly skills: string;
  /** A folder for each installed skill, by name and content. */
  readonly store: string;
  /** What is installed for the user, whatever the project. */
  readonly lockFile: string;
  readonly grantsFile: string;
  readonly cache: string;
  /** Where what is fetched waits to be looked at. Never searched for skills. */
  readonly quarantine: string;
  readonly state: string;
  /** A folder for each run: its log and its work folder. */
  readonly runs: string;
  /** A folder for each skill: what it keeps over runs and updates. */
  readonly data: string;
}

export function metierPlaces(
  home?: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Places {
  const absolute = resolve(home ?? (environment.METIER_HOME || homedir()));
  const base = join(absolute, ".metier");
  return {
    home: absolute,
    base,
    configFile: join(base, "config.toml"),
    skills: join(base, "skills"),
    store: join(base, "store"),
    lockFile: join(base, "metier.lock"),
    grantsFile: join(base, "grants.json"),
    cache: join(base, "cache"),
    quarantine: join(base, "cache", "quarantine"),
    state: join(base, "state"),
    runs: join(base, "state", "runs"),
    data: join(base, "data"),
  };
}

/** `~` and `~/x` become paths below `home`; anything else is resolved against `base`. */
export function expandPath(path: string, home: string, base: string): string {
  if (path === "~") return home;
  if (path.startsWith("~/") || path.startsWith(`~${sep}`)) return join(home, path.slice(2));
  return resolve(base, path);
}

/** Whether `path` is `directory` or lies below it, segment by segment; both absolute and normalised. */
export function isInside(path: string, directory: string): boolean {
  if (!path.startsWith(directory)) return false;
  return (
    path.length === directory.length || directory.endsWith(sep) || path.startsWith(sep, directory.length)
  );
}
