/**
 * Finds public names and reachable members without a doc comment in the published declarations, including what a
 * public name extends, picks from or returns, and objects inside it.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readParts, wordsIn } from "./declared-parts.mjs";

const COMMENT = /\/\*[\s\S]*?\*\//g;
/** Members that nobody may use, or that an editor doesn't list after a dot. */
const NEEDS_NONE = /^(?:private |#|constructor\b|\[)/;
/** `type: "text"`, `ok: true`: self-explanatory. */
const IS_LITERAL = /\??: (?:"[^"]*"|true|false|undefined|\d+)(?:;|$)/;
const MEMBER = /^(?:readonly |static |get |set |abstract )*[\w$"-]+\??(?:<[^(]*>)?[:(]/;

/** Shapes that others define (standards, the AI SDK, adapter hosts); their own documents describe them. */
const OF_OTHERS =
  /^(?:Standard\w+|RunUIChunk|Answer(?:StreamPart|Ending)|AnsweredCall|WholeAnswer|StreamedAnswer|FinishReason|(?:AiSdk|Claude|OpenAi|LangChain|Mastra)\w+)$/;
/** Computed types, where a member is really a pattern, and tables whose values are sentences or numbers. */
const NO_MEMBERS =
  /^(?:FromSchema|FromProperties|RequiredOf|Flat|Schema(?:In|Out)put|EXIT|[A-Z]+(?:_[A-Z]+)+)$/;
/** The parsed configuration: the reference page, made from its table, describes its keys. */
const OF_CONFIG = /\/skills\/config\//;

/**
 * @param {string} folder with declarations, as `writeDeclarations` makes them
 * @param {string} entry below it
 * @returns {readonly string[]} `Name`, or `Name.member`
 */
export function findUndocumented(folder, entry) {
  const file = join(folder, entry);
  const names = [...readParts(readFileSync(file, "utf8")).passedOn.keys()].sort();
  /** @type {Set<string>} */
  const seen = new Set();
  const own = names.flatMap((name) => {
    const found = find(name, file);
    if (found === undefined) throw new Error(`${file} does not declare \`${name}\`.`);
    seen.add(`${found.file} ${found.name}`);
    const isSaid = found.declarations.some((declaration) => declaration.startsWith("/**"));
    return [...(isSaid ? [] : [name]), ...lackingIn(found)];
  });
  return [...own, ...names.flatMap((name) => lackingBehind(find(name, file), seen))];
}

/** @typedef {{ name: string, file: string, declarations: readonly string[] }} Declared overloads are together */

/**
 * For declarations that aren't public under their own name.
 *
 * @param {Declared | undefined} from
 * @param {Set<string>} seen
 * @returns {readonly string[]}
 */
function lackingBehind(from, seen) {
  if (from === undefined) return [];
  return [...wordsIn(from.declarations.join("\n"))].flatMap((word) => {
    const found = find(word, from.file);
    if (found === undefined || seen.has(`${found.file} ${found.name}`)) return [];
    seen.add(`${found.file} ${found.name}`);
    return [...lackingIn(found), ...lackingBehind(found, seen)];
  });
}

/** @type {Map<string, import("./declared-parts.mjs").DeclaredParts>} */
const parsed = new Map();

/** @param {string} file */
function partsOf(file) {
  const known = parsed.get(file) ?? readParts(readFileSync(file, "utf8"));
  parsed.set(file, known);
  return known;
}

/** @param {string} name @param {string} file where it has that name @returns {Declared | undefined} */
function find(name, file) {
  const { declared, passedOn, imported } = partsOf(file);
  const declarations = declared.get(name);
  if (declarations !== undefined) return { name, file, declarations };
  const link = passedOn.get(name) ?? imported.get(name);
  if (link === undefined || (link.from !== undefined && !link.from.startsWith("."))) return undefined;
  return find(
    link.name,
    link.from === undefined ? file : join(dirname(file), link.from.replace(/\.ts$/, ".d.ts")),
  );
}

/**
 * Objects of a `type` share the type's sentence, or each has its own.
 *
 * @param {Declared} declared @returns {readonly string[]}
 */
function lackingIn({ name, file, declarations: [declaration = ""] }) {
  if (!/\b(?:interface|class) \w/.test(declaration.replace(COMMENT, ""))) return [];
  if (OF_OTHERS.test(name) || NO_MEMBERS.test(name) || OF_CONFIG.test(file)) return [];
  return membersWithout(declaration).map((member) => `${name}.${member}`);
}

/** Each member is on its own line, after its comment. @param {string} declaration */
function membersWithout(declaration) {
  const lines = declaration
    .replace(/^\/\*[\s\S]*?\*\//, "")
    .trim()
    .split("\n")
    .slice(1);
  /** @type {string[]} */
  const found = [];
  let isSaid = false;
  let before = ""; // An overload shares the sentence of the first.
  for (const line of lines.map((text) => text.trim())) {
    if (line.startsWith("/**") || line.startsWith("*")) {
      isSaid = true;
      continue;
    }
    const [head = ""] = MEMBER.exec(line) ?? [];
    const member = /([\w$"-]+)\??(?:<[^(]*>)?[:(]$/.exec(head)?.[1] ?? "";
    const needsNone = NEEDS_NONE.test(line) || IS_LITERAL.test(line) || member === before;
    if (member !== "" && !isSaid && !needsNone) found.push(member);
    if (line !== "") isSaid = false;
    before = member;
  }
  return found;
}
