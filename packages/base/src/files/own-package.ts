/**
 * Finds Metier's own folder. Asks the running code instead of `import.meta.url`, because bundlers replace that with a
 * path on the build machine, or with nothing.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "../places.ts";

/** Matches a built file in the package's folder: `dist/chunks/x.js`. */
const MAX_DEPTH = 3;

/** The file this code is in: Metier's, or the bundle's. `undefined` if it has none, as in `eval`. */
export function ownFile(): string | undefined {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_error, sites) => sites[0]?.getFileName();
    const { stack } = new Error("Where is this?") as { stack?: unknown };
    if (typeof stack !== "string") return undefined;
    if (stack.startsWith("file:")) return fileURLToPath(stack);
    return isAbsolute(stack) ? stack : undefined;
  } catch {
    return undefined; // A program that froze `Error`, or another kind of URL.
  } finally {
    restore(prepareStackTrace, stackTraceLimit);
  }
}

function restore(prepareStackTrace: typeof Error.prepareStackTrace, stackTraceLimit: number): void {
  try {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  } catch {
    // It was frozen, so nothing was set either.
  }
}

let known: { readonly folder: string | undefined } | undefined;

/** The package's folder. `undefined` in a bundle, which carries what it needs (see `carried.ts`). */
export function packageFolder(): string | undefined {
  known ??= { folder: findPackage(ownFile()) };
  return known.folder;
}

/**
 * `own` is a file of Metier. A folder that looks like Metier's need not be: a program that bundles Metier has skills,
 * too.
 */
export function findPackage(own: string | undefined): string | undefined {
  if (own === undefined) return undefined;
  let folder = dirname(own);
  if (isSource(own)) return join(folder, "../../../metier"); // In a clone, a package next to this one.
  for (let level = 0; level < MAX_DEPTH; level++) {
    if (isOurs(folder)) return folder;
    folder = dirname(folder);
  }
  return undefined;
}

/** Whether this is a clone that runs from its sources, not a build. */
export function runsFromSources(): boolean {
  return isSource(ownFile());
}

/**
 * The program of a thread: its path in the sources, starting at `packages`, and its path in the package. `undefined`
 * in a bundle, which lacks it.
 */
export function findThreadProgram(source: string, built: string): string | undefined {
  const folder = packageFolder();
  if (folder === undefined) return undefined;
  const program = runsFromSources() ? join(folder, "..", source) : join(folder, built);
  return existsSync(program) ? program : undefined;
}

let native: { readonly exports: unknown } | undefined;

/**
 * What C code exports (`packages/skills/native/addon.c`), which the build compiles on Linux where there is a C compiler. Loads
 * it once. `undefined` where it was not built, is for another C library, or may not be loaded (`--no-addons`, `--permission`).
 * Each user says which functions it expects; in a clone, they may be from before its sources.
 */
export function nativeCode(): unknown {
  native ??= { exports: loadNativeCode() };
  return native.exports;
}

function loadNativeCode(): unknown {
  const file = `threads-${process.platform}-${process.arch}.node`;
  try {
    const program = findThreadProgram(`metier/dist/native/${file}`, `dist/native/${file}`);
    if (program === undefined) return undefined;
    const module = { exports: {} };
    process.dlopen(module, program);
    return module.exports;
  } catch {
    return undefined; // With `--permission`, even looking for it may be refused.
  }
}

function isSource(own: string | undefined): boolean {
  return own !== undefined && basename(own) === "own-package.ts";
}

function isOurs(folder: string): boolean {
  // A tool that traces what a program loads copies the code but not these files; then the carried ones are used.
  if (!["skills", "dist/inside", "dist/just-bash"].every((part) => existsSync(join(folder, part))))
    return false;
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const { name, version } = manifest as { readonly name?: unknown; readonly version?: unknown };
    return name === "metier" && version === VERSION;
  } catch {
    return false;
  }
}

/** What to do if a bundle lacks something that belongs next to Metier. */
export const LEAVE_OUT_OF_BUNDLE =
  'Leave `metier` out of the bundle and install it next to it: `--external:metier` in esbuild, `externals` in webpack, `ssr.external` in Vite, `external` in Rollup, `serverExternalPackages: ["metier"]` in Next.js.';
