/** Builds `dist/` if its sources have changed since the last build. Plain Node 20. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runQuietly, SetUpError, say } from "./repository.mjs";

const SOURCES = [
  ...readdirSync(join(ROOT, "packages")).map((name) => `packages/${name}/src`),
  "packages/skills/native",
  "scripts/build",
  "scripts/build.mjs",
  "package.json",
  "package-lock.json",
  "packages/metier/package.json",
  "tsconfig.json",
];
const STAMP = join(ROOT, "packages/metier/dist", ".sources");

/** @param {string} node the program to build with */
export function buildIfStale(node) {
  if (readStamp() === sourceStamp()) return;
  say("building dist");
  const result = runQuietly(node, [join(ROOT, "scripts", "build.mjs")]);
  if (!result.ok) throw new SetUpError("The build failed; see its output above.", result.output);
  if (result.output) process.stderr.write(`${result.output}\n`);
}

/** One digest over the path, size and time of every file a build reads. */
export function sourceStamp() {
  const hash = createHash("sha256");
  for (const path of SOURCES.flatMap((source) => filesUnder(source))) {
    const { size, mtimeMs } = statSync(join(ROOT, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/** @param {string} path @returns {string[]} */
function filesUnder(path) {
  const absolute = join(ROOT, path);
  if (statSync(absolute).isFile()) return [path];
  return readdirSync(absolute)
    .sort()
    .flatMap((name) => filesUnder(`${path}/${name}`));
}

function readStamp() {
  try {
    return readFileSync(STAMP, "utf8");
  } catch {
    return undefined; // never built
  }
}
