/**
 * Keeps what the commands share in one file. esbuild cuts a bundle by who needs what, so every piece that is loaded on
 * demand would cut another slice out of the code of the commands, and each slice costs every start a file. Here each such
 * piece is made to need all of that code, which is loaded by then anyway.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../setup/repository.mjs";

/**
 * @param {string} core what all commands load, below the repository
 * @param {import("esbuild").Metafile} metafile of the same bundle, cut in the usual way
 * @returns {import("esbuild").Plugin}
 */
export function keepInOneFile(core, metafile) {
  const onDemand = new Set(
    Object.values(metafile.outputs)
      .map(({ entryPoint = "" }) => entryPoint)
      .filter((path) => path.startsWith("src/") && path !== core && !path.endsWith("/main.ts"))
      .map((path) => join(ROOT, path)),
  );
  return {
    name: "keep-in-one-file",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!onDemand.has(path)) return undefined;
        const contents = `import ${JSON.stringify(join(ROOT, core))};\n${readFileSync(path, "utf8")}`;
        return { contents, loader: "ts" };
      });
    },
  };
}
