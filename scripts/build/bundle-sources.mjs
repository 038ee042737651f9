/**
 * How a bundle reads the sources: with doors opened, and with code that loads together in few files. esbuild splits a
 * bundle by who needs what, so every on-demand piece would cut another slice out of the shared code, and each slice
 * costs every start a file. Here each such piece, and each library entry, is made to need the whole core: what the
 * most frequent command loads. Likewise, a piece that needs part of what a run loads is made to need all of it.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../setup/repository.mjs";
import { openDoors } from "./open-doors.mjs";

const CORE = "packages/cli/src/actions/list.ts";
const RUN = "packages/run/src/run/invoke-skill.ts";
/** Needs nothing from the core, and is what people run most often on its own. */
const HELP = "packages/cli/src/output/help-text.ts";
/** Of a run, it needs only what starts programs. */
const INSTALL = "packages/install/";
const ON_DEMAND = "on-demand";

/**
 * @param {import("esbuild").Metafile} [metafile] of the same bundle, split in the usual way
 * @returns {import("esbuild").Plugin}
 */
export function bundleSources(metafile) {
  const together = metafile && groupsOf(metafile);
  return {
    name: "bundle-sources",
    setup(build) {
      build.onLoad({ filter: /\/packages\/.*\.ts$/, namespace: "file" }, ({ path }) => ({
        contents: `${together && isEntry(path) ? importAll(together(path)) : ""}${openDoors(readFileSync(path, "utf8"))}`,
        loader: "ts",
      }));
      if (!together) return;
      build.onResolve({ filter: /\.ts$|^@metier\// }, async ({ kind, path, pluginData, ...from }) => {
        if (kind !== "dynamic-import" || pluginData === ON_DEMAND) return undefined;
        const found = await build.resolve(path, { kind, ...from, pluginData: ON_DEMAND });
        return { path: found.path, namespace: ON_DEMAND };
      });
      build.onLoad({ filter: /./, namespace: ON_DEMAND }, ({ path }) => ({
        contents: `${importAll(together(path))}export * from ${JSON.stringify(path)};`,
        resolveDir: dirname(path),
      }));
    },
  };
}

/**
 * What is loaded together with a piece, by its path.
 *
 * @param {import("esbuild").Metafile} metafile
 * @returns {(path: string) => readonly string[]}
 */
function groupsOf({ inputs }) {
  const core = closureOf(CORE, inputs);
  // Packages stay on demand: only Metier's own code that needs none of them is loaded early.
  const run = closureOf(RUN, inputs);
  const light = [...run].filter((path) => !core.has(path) && [...closureOf(path, inputs)].every(isOurs));
  return (path) => {
    const inside = path.slice(ROOT.length + 1);
    if (inside === HELP) return [];
    const needed = closureOf(inside, inputs);
    const isLikeRun = !inside.startsWith(INSTALL) && light.some((file) => needed.has(file));
    const files = [...core, ...(isLikeRun ? light : [])];
    return inside.startsWith("packages/cli/")
      ? files
      : files.filter((file) => !file.startsWith("packages/cli/"));
  };
}

/** @param {readonly string[]} files */
function importAll(files) {
  return files.map((file) => `import ${JSON.stringify(join(ROOT, file))};\n`).join("");
}

/** @param {string} file */
function isOurs(file) {
  return file.startsWith("packages/");
}

/** @param {string} path */
function isEntry(path) {
  return path.startsWith(join(ROOT, "packages/metier/src/"));
}

/**
 * Everything that a file imports, directly or indirectly, except on demand.
 *
 * @param {string} from
 * @param {import("esbuild").Metafile["inputs"]} inputs
 */
function closureOf(from, inputs) {
  const found = new Set([from]);
  for (const path of found) {
    for (const { path: next, kind } of inputs[path]?.imports ?? []) {
      if (kind === "import-statement" && inputs[next]) found.add(next);
    }
  }
  return found;
}
