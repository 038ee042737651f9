/**
 * Packs files into the code for programs that bundle Metier: there the package's folder doesn't exist, and
 * `packages/base/src/files/carried.ts` unpacks them. Each module named here is replaced with one that contains the
 * files.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/**
 * @param {{ built: string, skills: string }} folders `built`: with what runs in processes of its own
 * @returns {import("esbuild").Plugin}
 */
export function carryFiles({ built, skills }) {
  /** @type {Record<string, string>} */
  const folders = {
    inside: join(built, "inside"),
    shell: join(built, "just-bash"),
    skills,
  };
  /** @type {Map<string, string>} */
  const packed = new Map();
  return {
    name: "carry-files",
    setup(build) {
      build.onLoad({ filter: /\/carried-[a-z]+\.ts$/, namespace: "file" }, ({ path }) => {
        const [, what = ""] = /carried-([a-z]+)\.ts$/.exec(path) ?? [];
        const folder = folders[what];
        if (folder === undefined) throw new Error(`${path} carries nothing: it is unknown here.`);
        const text = packed.get(what) ?? pack(folder);
        packed.set(what, text);
        return { contents: `export const CARRIED_${what.toUpperCase()} = ${JSON.stringify(text)};\n` };
      });
    },
  };
}

/** Path → text, compressed. @param {string} folder */
function pack(folder) {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const files = Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(JSON.stringify(files), { params }).toString("base64");
}
