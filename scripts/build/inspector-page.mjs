/**
 * Builds the inspector's page: for a server as modules that load views on demand, for exports as one script and one
 * style. Both are minified, since a browser loads them.
 */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../setup/repository.mjs";
import { openDoors } from "./open-doors.mjs";

/** @param {string} folder where the page goes @returns {Promise<string[]>} the files that are in it */
export async function bundleInspectorPage(folder) {
  const page = "packages/inspector/src/page";
  /** @type {import("esbuild").BuildOptions & { metafile: true }} */
  const shared = {
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    platform: "browser",
    target: "es2023",
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    metafile: true,
    plugins: [takeWhatIsNeeded()],
    logLevel: "silent",
  };
  const served = await build({
    ...shared,
    entryPoints: { main: `${page}/main.tsx` },
    outdir: join(folder, "assets"),
    format: "esm",
    splitting: true,
  });
  await build({
    ...shared,
    entryPoints: { page: `${page}/export.tsx` },
    outdir: join(folder, "export"),
    format: "iife",
  });
  copyFileSync(join(ROOT, page, "index.html"), join(folder, "index.html"));
  return Object.keys(served.metafile.inputs);
}

/**
 * Only the files behind a door that the page needs: others are for Node, and would fail the build.
 *
 * @returns {import("esbuild").Plugin}
 */
function takeWhatIsNeeded() {
  return {
    name: "take-what-is-needed",
    setup(build) {
      build.onLoad({ filter: /\/packages\/.*\.tsx?$/, namespace: "file" }, ({ path }) => ({
        contents: openDoors(readFileSync(path, "utf8")),
        loader: path.endsWith("x") ? "tsx" : "ts",
      }));
    },
  };
}
