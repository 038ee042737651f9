/**
 * What Debian's own programs say about packages: which are installed, which the archive has. Only asks; `metier setup`
 * is what installs. Names must have passed `isPackageName`, so none reads as an option or a pattern.
 */
import { createCommandFinder, type Environment } from "../host/find-command.ts";
import { runProcess } from "./run-process.ts";

const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 4 * 1024 * 1024 };

/** `undefined` where there is no `dpkg-query`, so nobody knows. */
export async function findInstalledPackages(
  names: readonly string[],
  environment: Environment,
): Promise<ReadonlySet<string> | undefined> {
  const format = `--showformat=\${db:Status-Status}\\t\${Package}\\n`;
  const lines = await ask("dpkg-query", ["-W", format, "--", ...names], names, environment);
  return lines && new Set(lines.flatMap((line) => /^installed\t(.+)$/.exec(line)?.[1] ?? []));
}

/** Those that could be installed now; `undefined` where there is no `apt-cache`. */
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

/** Names that are not known make these programs end with 1, and answer for the others all the same. */
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
