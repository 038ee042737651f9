/**
 * What a run reached for, so that its result can say what was declared and what was used: hosts by tools and processes,
 * paths by the file tools. Which files its processes opened nobody can know. Its own folders are not listed.
 */
import { resolve } from "node:path";
import type { Reach } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { World } from "../sandbox/world.ts";
import type { Tool, ToolInput } from "../tools/tool.ts";

export interface SandboxUseNotes {
  /** A call that was carried out. */
  note(tool: Tool, input: ToolInput, world: World): void;
  /** Sorted; `hosts`: reached by processes. */
  list(hosts: Iterable<string>): Reach;
  /** What did not fit the list. */
  diagnostics(path: string): readonly Diagnostic[];
}

/** Enough to see what a skill does; a run may read thousands of files. */
const MOST_LISTED = 100;

/** The tools whose `path` is one of the world; left out, it is the working directory. */
const FILE_TOOLS: ReadonlyMap<string, "read" | "write"> = new Map([
  ["read_file", "read"],
  ["list_files", "read"],
  ["grep_search", "read"],
  ["write_file", "write"],
  ["edit_file", "write"],
]);

export function createUseNotes(): SandboxUseNotes {
  const used = { network: new Set<string>(), read: new Set<string>(), write: new Set<string>() };
  const first = (found: ReadonlySet<string>): readonly string[] => [...found].slice(0, MOST_LISTED).sort();
  return {
    note({ name, effect }, { url, path = "." }, world) {
      if (effect === "network" && typeof url === "string" && URL.canParse(url)) {
        used.network.add(new URL(url).hostname);
      }
      const kind = FILE_TOOLS.get(name);
      if (kind === undefined || typeof path !== "string") return;
      const real = realPathOr(resolve(world.cwd, path));
      const own = [world.workDir, world.skillDir, world.dataDir];
      if (!own.some((folder) => folder !== undefined && isInside(real, folder))) used[kind].add(real);
    },
    list(hosts) {
      for (const host of hosts) used.network.add(host);
      return { network: first(used.network), read: first(used.read), write: first(used.write) };
    },
    diagnostics(path) {
      return Object.entries(used)
        .filter(([, found]) => found.size > MOST_LISTED)
        .map(([kind, found]) => ({
          code: "sandbox.use-cut",
          severity: "info",
          path,
          message: `\`sandbox.used.${kind}\` lists the first ${MOST_LISTED} of ${found.size}.`,
        }));
    },
  };
}
