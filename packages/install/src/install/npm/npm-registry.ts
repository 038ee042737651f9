/**
 * Where npm packages come from: this machine's npm and its registry, and what a registry says about a package, as far
 * as needed to fetch one version.
 */
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject } from "@metier/base/json";
import type { Places } from "@metier/base/places";
import { createCommandFinder, type Environment } from "@metier/base/programs";
import { runProcess } from "@metier/sandbox";
import { type JsonFields, parseJsonObject } from "../json-object.ts";

interface Npm {
  /** Its own folder, with everything it needs. */
  readonly folder: string;
  /** A program for Node. */
  readonly program: string;
}

const ASK_LIMITS = { timeoutMs: 30_000, maxOutputBytes: 65_536 };
const MAX_LEVELS = 4;

/** From the `npm` on PATH, or next to the Node that runs Metier. `undefined` if there is none. */
export function findNpm(environment: Environment): Npm | undefined {
  const onPath = createCommandFinder(environment)("npm");
  const beside = join(dirname(process.execPath), "..", "lib", "node_modules", "npm", "bin", "npm-cli.js");
  for (const candidate of onPath === undefined ? [beside] : [onPath, beside]) {
    const folder = packageFolderOf(candidate);
    if (folder !== undefined) return { folder, program: join(folder, "bin", "npm-cli.js") };
  }
  return undefined;
}

/** A link in a `bin` folder leads into the package; a script there does not, and is useless in a sandbox. */
function packageFolderOf(program: string): string | undefined {
  try {
    let folder = dirname(realpathSync.native(program));
    for (let level = 0; level < MAX_LEVELS; level++, folder = dirname(folder)) {
      if (readPackageName(folder) === "npm") return folder;
    }
  } catch {
    // Nothing is there.
  }
  return undefined;
}

function readPackageName(folder: string): unknown {
  try {
    const read: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return isJsonObject(read) ? read.name : undefined;
  } catch {
    return undefined; // Not a package folder.
  }
}

/**
 * Started outside any project, so that only the user's and the machine's settings count. `key` is `registry`, or
 * `@scope:registry` for one scope, which usually has none.
 */
export async function askNpmForRegistry(
  { program }: Npm,
  { home }: Pick<Places, "home">,
  environment: Environment,
  key = "registry",
): Promise<string | undefined> {
  const { npm_config_registry: fromEnvironment, PATH = "" } = environment;
  const env = { PATH, HOME: home, ...(fromEnvironment && { npm_config_registry: fromEnvironment }) };
  return askNpm(program, ["config", "get", key], env);
}

/** npm's default: lock files name it, whichever registry npm uses. */
export function askNpmForDefault({ program }: Npm): Promise<string | undefined> {
  const unset = ["--userconfig=/dev/null", "--globalconfig=/dev/null"];
  return askNpm(program, ["config", "get", "registry", ...unset], { HOME: "/" });
}

async function askNpm(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const outcome = await runProcess({
    program: process.execPath,
    args: [program, ...args],
    env,
    cwd: "/",
    limits: ASK_LIMITS,
  });
  const answer = outcome.ended === "exited" && outcome.exitCode === 0 ? outcome.stdout.trim() : "undefined";
  return answer === "undefined" ? undefined : answer;
}

/** No credential is ever sent to it. */
export interface Registry {
  readonly url: string;
  /** Domains in the format of `packages/sandbox/src/egress/check-destination.ts`. */
  readonly network: readonly string[];
}

/** `undefined`: it is not a URL, or has a user name or password. */
export function nodeRegistry(url: string): Registry | undefined {
  const read = URL.parse(url.trim());
  if (read === null || !/^https?:$/.test(read.protocol)) return undefined;
  if (read.username !== "" || read.password !== "") return undefined;
  if (!read.pathname.endsWith("/")) read.pathname += "/";
  return { url: read.href, network: [read.host] };
}

export interface PackageDocument {
  /** Such as `1.2.0` and `1.3.0-beta.1`. */
  readonly versions: readonly string[];
  /** `latest` and others, with their versions. */
  readonly tags: Readonly<Record<string, string>>;
  /** `undefined` if the version has no tarball, or none with fixed content. */
  find(version: string): PackageVersion | undefined;
}

export interface PackageVersion {
  readonly tarball: string;
  /** `sha512-…` in base 64. */
  readonly integrity: string;
  /** The author's deprecation message. */
  readonly deprecated?: string | undefined;
}

const SHA512 = /(?:^|\s)(sha512-[A-Za-z0-9+/]{86}==)(?=\s|\?|$)/;

/** `undefined` for a text that is not such a document. */
export function readPackageDocument(text: string): PackageDocument | undefined {
  const document = parseJsonObject(text);
  const versions = document?.versions;
  if (!isJsonObject(versions)) return undefined;
  const tags = isJsonObject(document?.["dist-tags"]) ? document["dist-tags"] : {};
  return {
    versions: Object.keys(versions),
    tags: Object.fromEntries(Object.entries(tags).filter(isTextEntry)),
    find(version) {
      const entry = Object.hasOwn(versions, version) ? versions[version] : undefined;
      return isJsonObject(entry) && isJsonObject(entry.dist) ? readVersion(entry, entry.dist) : undefined;
    },
  };
}

function readVersion(
  { deprecated }: JsonFields,
  { tarball, integrity }: JsonFields,
): PackageVersion | undefined {
  const fixed = typeof integrity === "string" ? SHA512.exec(integrity)?.[1] : undefined;
  if (typeof tarball !== "string" || !URL.canParse(tarball) || fixed === undefined) return undefined;
  return {
    tarball,
    integrity: fixed,
    deprecated: typeof deprecated === "string" && deprecated !== "" ? deprecated : undefined,
  };
}

function isTextEntry(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === "string";
}
