/** Which public names, and which members of them, no sentence stands above: from the declarations that are published. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readParts } from "./declared-parts.mjs";

const COMMENT = /\/\*[\s\S]*?\*\//g;
/** What an editor shows as soon as somebody types a dot, or nobody may use. */
const NEEDS_NONE = /^(?:private |#|constructor\b|\[)/;

/**
 * @param {string} folder with declarations, as `writeDeclarations` makes them
 * @param {string} entry below it
 * @returns {readonly string[]} `Name`, or `Name.member`
 */
export function findUndocumented(folder, entry) {
  const file = join(folder, entry);
  return [...readParts(readFileSync(file, "utf8")).passedOn.keys()]
    .sort()
    .flatMap((name) => lackingIn(name, declarationsOf(name, file)));
}

/** @param {string} name @param {string} file where it is exported @returns {readonly string[]} */
function declarationsOf(name, file) {
  const { declared, passedOn, imported } = readParts(readFileSync(file, "utf8"));
  const own = declared.get(name);
  if (own !== undefined) return own;
  const link = passedOn.get(name) ?? imported.get(name);
  if (link === undefined) throw new Error(`${file} does not declare \`${name}\`.`);
  const target = link.from === undefined ? file : join(dirname(file), link.from.replace(/\.ts$/, ".d.ts"));
  return declarationsOf(link.name, target);
}

/** @param {string} name @param {readonly string[]} declarations overloads: one sentence is enough */
function lackingIn(name, declarations) {
  const isSaid = declarations.some((declaration) => declaration.startsWith("/**"));
  const [declaration = ""] = declarations;
  const hasMembers = /\b(?:interface|class) \w/.test(declaration.replace(COMMENT, ""));
  const members = hasMembers ? membersWithout(declaration) : [];
  return [...(isSaid ? [] : [name]), ...members.map((member) => `${name}.${member}`)];
}

/** Members stand one level deep, each behind its comment. @param {string} declaration */
function membersWithout(declaration) {
  const head = declaration.replace(/^\/\*[\s\S]*?\*\//, "");
  const body = head.slice(head.indexOf("{") + 1);
  /** @type {string[]} */
  const found = [];
  let depth = 0;
  let isSaid = false;
  let before = ""; // An overload has the sentence of the first.
  for (const line of body.split("\n").map((text) => text.trim())) {
    const isComment = line.startsWith("/**") || line.startsWith("*");
    if (depth === 0 && isComment) isSaid = true;
    if (isComment) continue;
    if (depth === 0 && line !== "" && line !== "}") {
      const [member = line] = /^(?:readonly |static |get |set |abstract )*[\w$]+/.exec(line) ?? [];
      if (!isSaid && member !== before && !NEEDS_NONE.test(line))
        found.push(member.split(" ").at(-1) ?? member);
      before = member;
      isSaid = false;
    }
    depth += (line.match(/[{([]/g) ?? []).length - (line.match(/[})\]]/g) ?? []).length;
  }
  return found;
}
