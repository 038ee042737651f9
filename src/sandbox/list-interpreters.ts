/** Which interpreters a sandboxed command finds, by looking inside, and where each of them comes from outside. */
import { BIN } from "./inside/places.ts";
import { PROBE_LIMITS, PROBE_WORLD } from "./probed.ts";
import type { BroughtPrograms } from "./programs.ts";
import type { Sandbox } from "./sandbox.ts";

const INTERPRETERS = ["sh", "bash", "python3", "node", "deno", "bun", "ruby", "perl", "uv", "uvx"];

/** Name → the file on this machine, or `null`. Empty for a sandbox that starts none. */
export async function listInterpreters(
  sandbox: Sandbox,
  { files }: BroughtPrograms,
): Promise<Readonly<Record<string, string | null>>> {
  if (!sandbox.runsPrograms) return {};
  const look = `for name in "$@"; do echo "$name=$(command -v "$name")"; done`;
  const { stdout } = await sandbox.run({
    argv: ["sh", "-c", look, "sh", ...INTERPRETERS],
    world: PROBE_WORLD,
    env: {},
    limits: PROBE_LIMITS,
  });
  const found = new Map(stdout.split("\n").map((line) => splitOnce(line)));
  const brought: Readonly<Record<string, string>> = { ...files, node: process.execPath };
  return Object.fromEntries(
    INTERPRETERS.map((name) => {
      const path = found.get(name) || null;
      return [name, path === `${BIN}/${name}` ? (brought[name] ?? path) : path];
    }),
  );
}

function splitOnce(line: string): [name: string, path: string] {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}
