/**
 * Every public name and its signature, from the published declarations: one text per library entry, so that a change
 * to the public API shows in a diff. Comments are left out; whatever a signature names is in the report or internal.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readParts } from "./declared-parts.mjs";

const COMMENT = /\/\*[\s\S]*?\*\/\n?/g;

/**
 * @param {string} folder with declarations, as `writeDeclarations` makes them
 * @param {string} entry below it
 * @returns {string}
 */
export function reportApi(folder, entry) {
  const file = join(folder, entry);
  return [...readParts(readFileSync(file, "utf8")).passedOn.keys()]
    .sort()
    .map((name) => `${signatureOf(name, file)}\n`)
    .join("\n");
}

/** @param {string} name @param {string} file where it is exported @returns {string} */
function signatureOf(name, file) {
  const { declared, passedOn, imported } = readParts(readFileSync(file, "utf8"));
  const own = declared.get(name);
  if (own !== undefined) return own.map(withoutComments).join("\n");
  const link = passedOn.get(name) ?? imported.get(name);
  if (link === undefined) throw new Error(`${file} does not declare \`${name}\`.`);
  const target = link.from === undefined ? file : join(dirname(file), link.from.replace(/\.ts$/, ".d.ts"));
  const signature = signatureOf(link.name, target);
  return link.name === name ? signature : `${signature}\nexport { ${link.name} as ${name} };`;
}

/** @param {string} declaration */
function withoutComments(declaration) {
  return declaration
    .replace(COMMENT, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n");
}
