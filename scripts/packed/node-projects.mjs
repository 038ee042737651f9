/** Fresh projects that import or require the installed package, on each Node; and its command. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { judge, makeProject, NODES, nodeProgram, row, run } from "./toolbox.mjs";

const read = (/** @type {string} */ name) => readFileSync(new URL(`app/${name}`, import.meta.url), "utf8");

/** The program, as the files of a project. */
export const APP = { "main.mjs": read("main.mjs"), "try-metier.mjs": read("try-metier.mjs") };

/** The same for CommonJS: named imports become calls of `require`. */
const APP_CJS = Object.fromEntries(
  Object.entries(APP).map(([name, text]) => [name.replace(".mjs", ".cjs"), toCommonJs(text)]),
);

/** @param {string} text */
function toCommonJs(text) {
  const required = text
    .replace(/^import (\{[^}]*\}) from ("[^"]+");$/gm, "const $1 = require($2);")
    .replaceAll('.mjs")', '.cjs")')
    .replace(/^export (?=async function)/gm, "");
  return text.includes("export async function tryMetier")
    ? `${required}module.exports = { tryMetier };\n`
    : required;
}

/** @param {import("./toolbox.mjs").Workshop} workshop */
export function* tryNode(workshop) {
  const esm = makeProject(workshop, "esm", { files: APP });
  const cjs = makeProject(workshop, "cjs", { type: "commonjs", files: APP_CJS });
  for (const version of NODES) {
    const node = nodeProgram(workshop, version);
    yield row(`Node ${version}, ESM`, () => judge(run(node, ["main.mjs", workshop.skills], { cwd: esm })));
    yield row(`Node ${version}, CommonJS`, () =>
      judge(run(node, ["main.cjs", workshop.skills], { cwd: cjs })),
    );
    yield row(`Node ${version}, the command`, () => {
      const command = join(esm, "node_modules/metier/bin/metier.js");
      const env = { METIER_HOME: join(workshop.folder, "command-home") };
      const { ok, stdout, output } = run(node, [command, "list", "--json"], { cwd: esm, env });
      return ok && stdout.includes("summarize-text") ? undefined : output;
    });
  }
}
