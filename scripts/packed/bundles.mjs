/**
 * Bundles of the program with everything in it: made in one project, moved to an otherwise empty folder, and run there
 * after the project is removed. They must contain no path of the machine that made them.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { APP } from "./node-projects.mjs";
import { CURRENT_NODE, judge, makeProject, NODES, nodeProgram, row, run } from "./toolbox.mjs";

/** @typedef {import("./toolbox.mjs").Workshop} Workshop */

/**
 * @typedef {object} Bundler
 * @property {Record<string, string>} packages
 * @property {Record<string, { entry: string, script: string }>} ways by name: where the program is in `out`, and the
 *   program that makes it there
 */

const esbuild = (/** @type {string} */ options) => `
import { build } from "esbuild";
await build({ entryPoints: ["main.mjs"], bundle: true, platform: "node", logLevel: "warning", ${options} });
`;

const webpack = (/** @type {string} */ options) => `
import webpack from "webpack";
const config = { mode: "production", target: "node22", entry: "./main.mjs", ${options} };
webpack(config, (error, stats) => {
  const said = error ?? (stats.hasErrors() || stats.hasWarnings() ? stats.toString("errors-warnings") : undefined);
  if (said === undefined) return;
  console.error(said);
  process.exitCode = 1;
});
`;

const vite = (/** @type {string} */ options) => `
import { build } from "vite";
await build({
  configFile: false,
  logLevel: "warn",
  ssr: { noExternal: true },
  build: { ssr: "main.mjs", outDir: "out", ${options} },
});
`;

const rollup = (/** @type {string} */ options) => `
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { isBuiltin } from "node:module";
import { rollup } from "rollup";
const onwarn = (warning) => { if (warning.code !== "CIRCULAR_DEPENDENCY") throw new Error(warning.message); };
const plugins = [nodeResolve({ exportConditions: ["node"] })];
const bundle = await rollup({ input: "main.mjs", plugins, external: isBuiltin, onwarn });
await bundle.write({ dir: "out", ${options} });
await bundle.close();
`;

/** @type {Record<string, Bundler>} */
export const BUNDLERS = {
  esbuild: {
    packages: { esbuild: "0.28.2" },
    ways: {
      "ESM, one file": { entry: "app.mjs", script: esbuild('format: "esm", outfile: "out/app.mjs"') },
      "CommonJS, minified": {
        entry: "app.cjs",
        script: esbuild('format: "cjs", minify: true, outfile: "out/app.cjs"'),
      },
      "ESM, in chunks": {
        entry: "main.mjs",
        script: esbuild('format: "esm", splitting: true, outdir: "out", outExtension: { ".js": ".mjs" }'),
      },
    },
  },
  webpack: {
    packages: { webpack: "5.112.2" },
    ways: {
      CommonJS: {
        entry: "app.cjs",
        script: webpack('output: { path: import.meta.dirname + "/out", filename: "app.cjs" }'),
      },
      ESM: {
        entry: "app.mjs",
        script: webpack(
          'output: { path: import.meta.dirname + "/out", filename: "app.mjs", module: true, chunkFormat: "module" }, experiments: { outputModule: true }',
        ),
      },
    },
  },
  vite: {
    packages: { vite: "8.3.8" },
    ways: { SSR: { entry: "main.js", script: vite("minify: false") } },
  },
  rollup: {
    packages: { rollup: "4.68.2", "@rollup/plugin-node-resolve": "16.0.3" },
    ways: {
      ESM: { entry: "main.js", script: rollup('format: "esm"') },
      CommonJS: {
        entry: "main.cjs",
        script: rollup('format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "[name]-[hash].cjs"'),
      },
    },
  },
};

/** @param {string} name @param {Workshop} workshop */
export function* tryBundler(name, workshop) {
  const { packages = {}, ways = {} } = BUNDLERS[name] ?? {};
  const versions = Object.entries(packages).map(([tool, version]) => `${tool} ${version}`);
  const label = versions[0] ?? name;
  const node = nodeProgram(workshop, CURRENT_NODE);
  let count = 0;
  for (const [way, { entry, script }] of Object.entries(ways)) {
    const files = { ...APP, "build.mjs": script };
    const project = makeProject(workshop, `${name}-${count}`, { packages, files });
    const moved = join(workshop.folder, `moved-${name}-${count++}`);
    const made = row(`${label}, ${way}: bundle`, () => bundleAndMove(node, project, moved));
    yield made;
    if (made.problem !== undefined) continue;
    for (const version of NODES.slice(1)) {
      const program = nodeProgram(workshop, version);
      yield row(`${label}, ${way}: moved, on Node ${version}`, () =>
        judge(run(program, [entry, workshop.skills], { cwd: moved })),
      );
    }
  }
}

/** @param {string} node @param {string} project @param {string} moved @returns {string | undefined} */
function bundleAndMove(node, project, moved) {
  const { ok, output } = run(node, ["build.mjs"], { cwd: project, timeout: 10 * 60_000 });
  if (!ok) return output.slice(-2000);
  mkdirSync(moved);
  cpSync(join(project, "out"), moved, { recursive: true });
  writeFileSync(join(moved, "package.json"), '{ "type": "module" }\n');
  renameSync(project, `${project}-away`);
  return findPaths(moved, project);
}

/** Files of the bundle that name the folder it was made in. @param {string} bundle @param {string} project */
export function findPaths(bundle, project) {
  const named = readdirSync(bundle, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file, "utf8").includes(project));
  return named.length === 0
    ? undefined
    : `These name ${project}, where the bundle was made: ${named.join(", ")}`;
}
