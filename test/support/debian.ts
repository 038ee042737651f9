/** Stand-ins for the package programs of Debian, on a PATH of their own: what is installed stands in a file. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, writeTree } from "./temporary.ts";

export interface Debian {
  /** The PATH; nothing else is on it. */
  readonly path: string;
  /** Arguments of each `apt-get`, one line each. */
  calls(): readonly string[];
}

export interface DebianOptions {
  readonly installed?: readonly string[];
  /** What `apt-cache` knows. */
  readonly archive?: readonly string[];
  /** How `apt-get` ends. */
  readonly exitCode?: number;
  /** Programs that are not there. */
  readonly without?: readonly string[];
}

/** `jq` and `g++` as patterns that match themselves. */
const quote = (name: string): string => `'${name}'`;

export function createDebian(options: DebianOptions = {}): Debian {
  const { installed = [], archive = [], exitCode = 0, without = [] } = options;
  const path = temporaryFolder();
  const log = join(path, "calls");
  const state = join(path, "state");
  writeFileSync(state, installed.map((name) => `${name}\n`).join(""));
  const known = archive.map(quote).join("|") || "''";
  const programs: Readonly<Record<string, string>> = {
    "dpkg-query": `status=0
for name in "$@"; do
  case "$name" in -*) continue;; esac
  found=
  while read -r line; do [ "$line" = "$name" ] && found=1; done < '${state}'
  if [ "$found" ]; then printf 'installed\\t%s\\n' "$name"; else status=1; fi
done
exit $status`,
    "apt-cache": `for name in "$@"; do
  case "$name" in ${known}) printf '%s:\\n  Installed: (none)\\n  Candidate: 1.0\\n' "$name";; esac
done`,
    "apt-get": `echo "$*" >> '${log}'
echo 'Reading package lists...'
echo 'a warning' >&2
[ ${exitCode} = 0 ] || exit ${exitCode}
for name in "$@"; do case "$name" in install|-*) ;; *) echo "$name" >> '${state}';; esac; done`,
    sudo: `exec "$@"`,
  };
  const present = Object.entries(programs).filter(([name]) => !without.includes(name));
  writeTree(path, Object.fromEntries(present.map(([name, text]) => [name, `#!/bin/sh\n${text}\n`])));
  for (const [name] of present) chmodSync(join(path, name), 0o755);
  return {
    path,
    calls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
  };
}
