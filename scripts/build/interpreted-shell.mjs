/**
 * Builds the interpreted shell (`packages/sandbox/src/sandbox/just-bash/shell.ts`) as one file for a process that can
 * read little else. Uses the package's browser build, which has no network client, SQLite, Python or JavaScript
 * engine.
 */
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../setup/repository.mjs";

/** Packages whose code is inside the single file of `just-bash`, where no bundler sees them. */
const CARRIED = [
  "just-bash/node_modules/re2js",
  "file-type",
  "strtok3",
  "token-types",
  "@borewit/text-codec",
  "ieee754",
  "uint8array-extras",
];

/**
 * @param {string} folder where to put it
 * @returns {Promise<readonly string[]>} the files that are in it
 */
export async function bundleInterpretedShell(folder) {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ["packages/sandbox/src/sandbox/just-bash/shell.ts"],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    charset: "utf8",
    legalComments: "none",
    // Nearly all of it has no line breaks; adding them would make it half as large again.
    minifyWhitespace: true,
    alias: { turndown: join(ROOT, "scripts/build/no-html.cjs") },
    metafile: true,
    logLevel: "silent",
  });
  return [...Object.keys(metafile.inputs), ...CARRIED.map((name) => `node_modules/${name}/package.json`)];
}
