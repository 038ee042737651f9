/** The npm of this machine: where it lies, so that a sandbox can see it, and which registry it is set to. */
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { createCommandFinder, type Environment } from "../../host/find-command.ts";
import type { Places } from "../../host/places.ts";
import { runProcess } from "../../sandbox/run-process.ts";

export interface Npm {
  /** Its own folder, with everything it needs. */
  readonly folder: string;
  /** A program for Node. */
  readonly program: string;
}

const ASK_LIMITS = { timeoutMs: 30_000, maxOutputBytes: 65_536 };
const MAX_LEVELS = 4;

/** By the `npm` on PATH, or beside the Node that runs Metier. `undefined` where there is none. */
export function findNpm(environment: Environment): Npm | undefined {
  const onPath = createCommandFinder(environment)("npm");
  const beside = join(dirname(process.execPath), "..", "lib", "node_modules", "npm", "bin", "npm-cli.js");
  for (const candidate of onPath === undefined ? [beside] : [onPath, beside]) {
    const folder = packageFolderOf(candidate);
    if (folder !== undefined) return { folder, program: join(folder, "bin", "npm-cli.js") };
  }
  return undefined;
}

/** A link in a `bin` folder leads into the package; a script there does not, and is of no use in a sandbox. */
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
    return typeof read === "object" && read !== null && "name" in read ? read.name : undefined;
  } catch {
    return undefined; // Not the folder of a package.
  }
}

/**
 * Started outside of any project, so that only the user's and the machine's settings count. `key` is `registry`, or
 * `@scope:registry` for the packages of one scope, which most often has none of its own.
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

/** What npm uses where nobody set another: lock files name it, whichever registry npm is set to. */
export function askNpmForDefault({ program }: Npm): Promise<string | undefined> {
  const unset = ["--userconfig=/dev/null", "--globalconfig=/dev/null"];
  return askNpm(program, ["config", "get", "registry", ...unset], { HOME: "/" });
}

async function askNpm(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const limits = ASK_LIMITS;
  const outcome = await runProcess({
    program: process.execPath,
    args: [program, ...args],
    env,
    cwd: "/",
    limits,
  });
  const answer = outcome.ended === "exited" && outcome.exitCode === 0 ? outcome.stdout.trim() : "undefined";
  return answer === "undefined" ? undefined : answer;
}
