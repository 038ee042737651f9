/**
 * `npm run build`: bundles the library and the command line into `dist/`, with on-demand code in separate chunks.
 * Packages under `dependencies` stay imports; every other package is bundled, and its license goes into
 * `THIRD_PARTY_NOTICES.txt`. `--types` adds the declarations that a published package needs.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build, transform } from "esbuild";
import { bundleSources } from "./build/bundle-sources.mjs";
import { carryFiles } from "./build/carry-files.mjs";
import { writeDeclarations } from "./build/declarations.mjs";
import { findCalled, makeProject, markCalled, replaceMarks } from "./build/eager-functions.mjs";
import { leaveOutModules } from "./build/fewer-modules.mjs";
import { bundleInspectorPage } from "./build/inspector-page.mjs";
import { bundleInterpretedShell } from "./build/interpreted-shell.mjs";
import { takeBuiltinsLazily } from "./build/lazy-builtins.mjs";
import { LIBRARY_ENTRIES } from "./build/library-entries.mjs";
import { compileNativeThread } from "./build/native-thread.mjs";
import { collectNotices } from "./build/notices.mjs";
import { packVocabulary } from "./build/pack-vocabulary.mjs";
import { bundleUsedExports } from "./build/used-exports.mjs";
import { sourceStamp } from "./setup/fresh-build.mjs";
import { ROOT, say } from "./setup/repository.mjs";

const DIST = join(ROOT, "packages/metier/dist");
// Built elsewhere and swapped in as a whole: a command that starts in the meantime finds either the old `dist/` or the
// new one.
const STAGING = join(ROOT, "node_modules", `.metier-build-${process.pid}`);

/** The ES module form of yaml: its Node form is CommonJS and calls `require`, which a bundle of modules lacks. */
const YAML = join(ROOT, "node_modules/yaml/browser/index.js");

/** Library and command line, with one set of chunks for both. */
async function bundle() {
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, "packages/metier/package.json"), "utf8"));
  const entryPoints = {
    ...LIBRARY_ENTRIES,
    "cli/main": "packages/cli/src/main.ts",
    "threads/scan": "packages/scan/src/scan-thread.ts",
  };
  /** @type {import("esbuild").BuildOptions & { metafile: true, write: false }} */
  const options = {
    absWorkingDir: ROOT,
    entryPoints,
    outdir: STAGING,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    charset: "utf8",
    legalComments: "none",
    external: Object.keys(dependencies),
    alias: {
      yaml: YAML,
      "@ai-sdk/gateway": join(ROOT, "scripts/build/no-gateway.mjs"),
    },
    metafile: true,
    write: false,
    logLevel: "silent",
  };
  const carried = carryFiles({ built: STAGING, skills: join(ROOT, "packages/metier/skills") });
  const packed = [carried, packVocabulary(), bundleUsedExports()];
  const cut = await build({ ...options, plugins: [...packed, bundleSources()] });
  const plugins = [...packed, bundleSources(cut.metafile)];
  const { metafile, outputFiles } = await build({ ...options, plugins });
  const modules = leaveOutModules(
    outputFiles.map(({ path, text }) => ({ path, code: takeBuiltinsLazily(text) })),
  );
  for (const module of modules) await writeModule(module);
  const called = findCalled(STAGING, project.folder);
  for (const { path, code } of modules) {
    const names = called.get(relative(STAGING, path));
    if (names) await writeModule({ path, code: markCalled(code, names) });
  }
  return filesOf(metafile);
}

/** @param {{ readonly path: string, readonly code: string }} module */
async function writeModule({ path, code }) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, await withoutBlanks(code));
}

/**
 * A sixth shorter. Names stay and lines are short, so that stack traces are readable.
 *
 * @param {string} code
 */
async function withoutBlanks(code) {
  const { code: short } = await transform(code, {
    format: "esm",
    platform: "node",
    target: "node22.18",
    charset: "utf8",
    legalComments: "none",
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
  });
  return replaceMarks(short).replace(RUN_TIME_IMPORT, `import(${LEFT_ALONE} `);
}

/**
 * Imports of a path known only at run time: without these comments, which minifying drops, other people's bundlers
 * would look for it.
 */
const RUN_TIME_IMPORT = /\bimport\(\s*(?=pathToFileURL\()/g;
const LEFT_ALONE = "/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */";

/**
 * The files that contribute something to a bundle.
 *
 * @param {import("esbuild").Metafile} metafile
 */
function filesOf({ outputs }) {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
}

/**
 * Programs that run inside a sandbox, each as one file, because nothing else of the package is visible there.
 *
 * @param {readonly string[]} programs
 */
async function bundleInside(programs) {
  await build({
    absWorkingDir: ROOT,
    entryPoints: programs.map((name) => `packages/sandbox/src/sandbox/inside/${name}.ts`),
    outdir: join(STAGING, "inside"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    logLevel: "silent",
  });
}

/** Threads that must start working within milliseconds, so each is a separate file. */
async function bundleReadAhead() {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: {
      "ahead-thread": "packages/skills/src/catalog/ahead-thread.ts",
      "tree-thread": "packages/install/src/install/tree-thread.ts",
    },
    outdir: join(STAGING, "ahead"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    charset: "utf8",
    legalComments: "none",
    alias: { yaml: YAML },
    plugins: [bundleSources()],
    write: false,
    logLevel: "silent",
  });
  for (const { path, text } of outputFiles) await writeModule({ path, code: takeBuiltinsLazily(text) });
}

async function writeManifestSchema() {
  const { manifestJsonSchema } = await import("@metier/skills");
  const text = `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`;
  writeFileSync(join(STAGING, "manifest.schema.json"), text);
}

/** What `metier --help` prints, so that printing it loads nothing else. */
async function writeOverview() {
  const { overviewText } = await import("@metier/cli");
  writeFileSync(join(STAGING, "overview.txt"), overviewText());
}

function swapIn() {
  const old = `${STAGING}-old`;
  try {
    if (existsSync(DIST)) renameSync(DIST, old);
    renameSync(STAGING, DIST);
  } catch (error) {
    if (!existsSync(DIST)) throw error; // another build was faster, and its result is just as good
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}

// Taken before anything is read, so that an edit in the meantime makes the next setup build again.
const stamp = sourceStamp();
const project = makeProject();
try {
  const shell = await bundleInterpretedShell(join(STAGING, "just-bash"));
  await bundleInside(["metier-sb", "toolset-host", "define-toolset"]);
  const page = await bundleInspectorPage(join(STAGING, "inspector"));
  const bundled = await bundle(); // After the two above, which it includes.
  await bundleReadAhead();
  const noNative = compileNativeThread(join(STAGING, "native"));
  if (noNative) say(`built without the native thread, because ${noNative}: long lists take longer`);
  const inputs = [...new Set([...bundled, ...shell, ...page])];
  writeFileSync(join(STAGING, "THIRD_PARTY_NOTICES.txt"), collectNotices(inputs));
  await writeManifestSchema();
  await writeOverview();
  if (process.argv.includes("--types")) writeDeclarations(join(STAGING, "types"));
  writeFileSync(join(STAGING, ".sources"), stamp);
  swapIn();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  project.remove();
  rmSync(STAGING, { recursive: true, force: true });
}
