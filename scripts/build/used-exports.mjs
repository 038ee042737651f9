/**
 * Bundles only what our sources use of a package that they load on demand. esbuild keeps all exports of such a package,
 * so a first run compiled 1.2 MB of the AI SDK and its schemas to use four functions.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../setup/repository.mjs";

const ON_DEMAND = /\bimport\("([^."][^"]*)"\)/g;
/** Only in this form do we know what is used. */
const NAMED = /\bconst \{([^}]*)\} = await import\("([^."][^"]*)"\)/g;

/** All of zod as one value, with its messages in 50 languages; the same as a namespace contains only what is read. */
const WHOLE_ZOD = 'import { z } from "zod/v4";';
const READ_ZOD = 'import * as z from "zod/v4";';

const USED = "used-exports";

/** @returns {import("esbuild").Plugin} */
export function bundleUsedExports() {
  return {
    name: USED,
    setup(build) {
      const used = findUsedExports(readSources());
      build.onResolve({ filter: /^[^./]/ }, ({ kind, path, resolveDir }) =>
        kind === "dynamic-import" && used.has(path)
          ? { path, namespace: USED, pluginData: resolveDir }
          : undefined,
      );
      build.onLoad({ filter: /./, namespace: USED }, ({ path, pluginData }) => ({
        contents: `export { ${[...(used.get(path) ?? [])].join(", ")} } from ${JSON.stringify(path)};`,
        resolveDir: pluginData,
      }));
      build.onLoad({ filter: /\/node_modules\/@ai-sdk\/[^/]+\/dist\/index\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, "utf8").replace(WHOLE_ZOD, READ_ZOD),
        loader: "js",
      }));
    },
  };
}

/**
 * @param {readonly string[]} sources
 * @returns {ReadonlyMap<string, ReadonlySet<string>>} names by package, without packages that someone takes as a whole
 */
export function findUsedExports(sources) {
  /** @type {Map<string, Set<string>>} */
  const used = new Map();
  /** @type {Set<string>} */
  const whole = new Set();
  for (const source of sources) {
    const rest = source.replace(NAMED, (_all, /** @type {string} */ list, /** @type {string} */ name) => {
      const names = list.split(",").flatMap((part) => part.split(":")[0]?.trim() || []);
      used.set(name, new Set([...(used.get(name) ?? []), ...names]));
      return "";
    });
    for (const [, name = ""] of rest.matchAll(ON_DEMAND)) whole.add(name);
  }
  return new Map([...used].filter(([name]) => !whole.has(name) && !name.startsWith("@metier/")));
}

/** @returns {readonly string[]} */
function readSources() {
  return readdirSync(join(ROOT, "packages")).flatMap((name) => {
    const folder = join(ROOT, "packages", name, "src");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return files
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(join(folder, file), "utf8"));
  });
}
