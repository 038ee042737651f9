/**
 * Removes modules, since each costs a start most of a millisecond, no matter its size. esbuild leaves two useless
 * kinds: an import of its helper functions where none is used, and an on-demand piece that only re-exports another
 * module under the same names.
 */
import { basename, dirname } from "node:path";

/** @typedef {{ readonly path: string, readonly code: string }} Module */

const HANDS_ON = /^import \{\s([^}]*)\} from "(\.\/[^"]+)";\n(?:import "[^"]+";\n)*export \{\s([^}]*)\};\n$/;

/** How the module with esbuild's own functions starts. */
const HELPERS = "var __create = Object.create;";

/**
 * @param {readonly Module[]} modules as esbuild prints them
 * @returns {readonly Module[]}
 */
export function leaveOutModules(modules) {
  const helpers = modules.find(({ code }) => code.startsWith(HELPERS));
  const lean = modules.map(({ path, code }) => ({
    path,
    code: helpers ? dropImport(code, basename(helpers.path)) : code,
  }));
  const handing = new Map(lean.flatMap((module) => handedOn(module) ?? []));
  return lean
    .filter(({ path }) => !handing.has(basename(path)))
    .map(({ path, code }) => ({ path, code: importDirectly(code, handing) }));
}

/** @param {string} code @param {string} name */
function dropImport(code, name) {
  return code.replaceAll(new RegExp(`^import "[./\\w-]*/${name}";\\n`, "gm"), "");
}

/** @param {Module} module @returns {[name: string, target: string][] | undefined} */
function handedOn({ path, code }) {
  const [, imported, target, exported] = HANDS_ON.exec(code) ?? [];
  if (basename(dirname(path)) !== "chunks") return undefined; // A file that programs import keeps its name.
  if (target === undefined || imported !== exported || imported?.includes(" as ")) return undefined;
  return [[basename(path), basename(target)]];
}

/** @param {string} code @param {ReadonlyMap<string, string>} handing names of modules in one folder */
function importDirectly(code, handing) {
  return code.replaceAll(/(\bimport\("[./\w-]*\/)([\w.-]+\.js)("\))/g, (all, before, name, after) => {
    const target = handing.get(name);
    return target === undefined ? all : `${before}${target}${after}`;
  });
}
