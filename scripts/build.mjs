/**
 * `npm run build`: bundles the library and the command line into `dist/`, with what is loaded on demand in chunks
 * of its own. What stands under `dependencies` stays an import; every other package is bundled, and its licence goes
 * into `THIRD_PARTY_NOTICES.txt`. `--types` adds the declarations that a published package needs.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { writeDeclarations } from "./build/declarations.mjs";
import { bundleInterpretedShell } from "./build/interpreted-shell.mjs";
import { takeBuiltinsLazily } from "./build/lazy-builtins.mjs";
import { LIBRARY_ENTRIES } from "./build/library-entries.mjs";
import { collectNotices } from "./build/notices.mjs";
import { keepInOneFile } from "./build/one-core.mjs";
import { sourceStamp } from "./setup/fresh-build.mjs";
import { ROOT } from "./setup/repository.mjs";

const DIST = join(ROOT, "dist");
// Built elsewhere and swapped in whole: a command that starts meanwhile finds the old `dist/` or the new one.
const STAGING = join(ROOT, "node_modules", `.metier-build-${process.pid}`);

/**
 * Library and command line are bundled apart: together they would be cut into many small shared files, and each file
 * costs every start of the command a millisecond.
 *
 * @param {Record<string, string>} entryPoints the sources, by their names in `dist/`
 * @param {string} chunks folder for what is loaded on demand
 * @param {string} core what every command loads, kept in one file
 */
async function bundle(entryPoints, chunks, core = "") {
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  /** @type {import("esbuild").BuildOptions & { metafile: true, write: false }} */
  const options = {
    absWorkingDir: ROOT,
    entryPoints,
    outdir: STAGING,
    chunkNames: `${chunks}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    charset: "utf8",
    legalComments: "none",
    external: Object.keys(dependencies),
    // The ES module form of yaml: its Node form is CommonJS and calls `require`, which a bundle of modules has not.
    alias: {
      yaml: join(ROOT, "node_modules/yaml/browser/index.js"),
      "@ai-sdk/gateway": join(ROOT, "scripts/build/no-gateway.mjs"),
    },
    metafile: true,
    write: false,
    logLevel: "silent",
  };
  const cut = await build(options);
  const { metafile, outputFiles } = core
    ? await build({ ...options, plugins: [keepInOneFile(core, cut.metafile)] })
    : cut;
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, takeBuiltinsLazily(text));
  }
  return Object.keys(metafile.inputs);
}

/**
 * What runs inside a sandbox, each program as one file: nothing else of the package is seen there.
 *
 * @param {readonly string[]} programs
 */
async function bundleInside(programs) {
  await build({
    absWorkingDir: ROOT,
    entryPoints: programs.map((name) => `src/sandbox/inside/${name}.ts`),
    outdir: join(STAGING, "inside"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    logLevel: "silent",
  });
}

/** Providers that come along, each a program of its own; what only some calls need is loaded by them. */
async function bundleProviders() {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { desk: "src/desk/bridge.ts", "desk-server": "src/desk/program.ts" },
    outdir: join(STAGING, "providers"),
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    charset: "utf8",
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
  });
  return Object.keys(metafile.inputs);
}

async function writeManifestSchema() {
  const { manifestJsonSchema } = await import("../src/skill/manifest-schema.ts");
  const text = `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`;
  writeFileSync(join(STAGING, "manifest.schema.json"), text);
}

function swapIn() {
  const old = `${STAGING}-old`;
  try {
    if (existsSync(DIST)) renameSync(DIST, old);
    renameSync(STAGING, DIST);
  } catch (error) {
    if (!existsSync(DIST)) throw error; // otherwise another build was faster, and its result is as good
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}

// Taken before anything is read, so that an edit made meanwhile makes the next set-up build again.
const stamp = sourceStamp();
try {
  const library = await bundle(LIBRARY_ENTRIES, "chunks");
  const commandLine = await bundle({ "cli/main": "src/cli/main.ts" }, "cli/chunks", "src/cli/actions.ts");
  const shell = await bundleInterpretedShell(join(STAGING, "just-bash"));
  const providers = await bundleProviders();
  const inputs = [...new Set([...library, ...commandLine, ...shell, ...providers])];
  writeFileSync(join(STAGING, "THIRD_PARTY_NOTICES.txt"), collectNotices(inputs));
  await bundleInside(["metier-sb", "toolset-host", "define-toolset"]);
  await writeManifestSchema();
  if (process.argv.includes("--types")) writeDeclarations(join(STAGING, "types"));
  writeFileSync(join(STAGING, ".sources"), stamp);
  swapIn();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  rmSync(STAGING, { recursive: true, force: true });
}
