/**
 * Where Metier itself is. Asked of the running code and not of `import.meta.url`: bundlers replace that by a path of the
 * machine they ran on, or by nothing at all.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "../places.ts";

/** Of a built file below the folder of the package: `dist/chunks/x.js`. */
const MAX_DEPTH = 3;

/** The file that this code is in: of Metier, or of the bundle it became a part of. Nothing where it has none, as in `eval`. */
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
    return undefined; // A program that froze `Error`, or a URL of another kind.
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

/**
 * The folder of the package. Nothing where the code became a part of a bundle: then it has with it what it needs, by
 * `carried.ts` beside this.
 */
export function packageFolder(): string | undefined {
  known ??= { folder: findPackage(ownFile()) };
  return known.folder;
}

/** `own`: a file of Metier. A folder is not ours because it looks like ours: a program that bundles Metier has skills, too. */
export function findPackage(own: string | undefined): string | undefined {
  if (own === undefined) return undefined;
  let folder = dirname(own);
  if (isSource(own)) return join(folder, "../../../metier"); // In a clone, a package beside this one.
  for (let level = 0; level < MAX_DEPTH; level++) {
    if (isOurs(folder)) return folder;
    folder = dirname(folder);
  }
  return undefined;
}

/** Whether this is a clone that runs from its sources, and not what was built from them. */
export function runsFromSources(): boolean {
  return isSource(ownFile());
}

/** The program of a thread: its file in the sources, from `packages` on, and in the package. Nothing in a bundle, which lacks it. */
export function findThreadProgram(source: string, built: string): string | undefined {
  const folder = packageFolder();
  if (folder === undefined) return undefined;
  const program = runsFromSources() ? join(folder, "..", source) : join(folder, built);
  return existsSync(program) ? program : undefined;
}

function isSource(own: string | undefined): boolean {
  return own !== undefined && basename(own) === "own-package.ts";
}

function isOurs(folder: string): boolean {
  // A tool that traces what a program loads copies the code and leaves these: then what the code carries is used.
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

/** What to do where something that lies beside Metier is missing from a bundle. */
export const LEAVE_OUT_OF_BUNDLE =
  'Leave `metier` out of the bundle and install it beside: `--external:metier` of esbuild, `externals` of webpack, `ssr.external` of Vite, `external` of Rollup, `serverExternalPackages: ["metier"]` of Next.js.';
