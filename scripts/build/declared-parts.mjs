/**
 * Splits a declaration file into parts: imports, re-exports and declarations, each with its comment, so that only what
 * a public name needs is published.
 */
const STATEMENT =
  /^(?:export )?(?:declare )?(?:abstract )?(?:function|class|interface|type|const|let|enum) (\w+)/;
const LIST = /^(import|export) (?:type )?\{([^}]*)\}(?: from "([^"]+)")?;$/s;
const COMMENT = /\/\*[\s\S]*?\*\//g;
const TEXT = /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/**
 * @typedef {object} DeclaredParts
 * @property {ReadonlyMap<string, readonly string[]>} declared name → its declarations; overloads are together
 * @property {ReadonlyMap<string, { name: string, from: string }>} imported by the name it has in this file
 * @property {ReadonlyMap<string, { name: string, from: string | undefined, comment: string }>} passedOn by the name it is exported under
 * @property {string} header the comment at the top
 */

/** @param {string} text @returns {DeclaredParts} */
export function readParts(text) {
  /** @type {Map<string, string[]>} */
  const declared = new Map();
  /** @type {Map<string, { name: string, from: string }>} */
  const imported = new Map();
  /** @type {Map<string, { name: string, from: string | undefined, comment: string }>} */
  const passedOn = new Map();
  let header = "";
  for (const chunk of chunksOf(text)) {
    const code = chunk.replace(COMMENT, "").trim();
    const [, verb, list = "", from] =
      LIST.exec(chunk.replace(/^(?:\s*\/\*[\s\S]*?\*\/\s*)+/, "").trim()) ?? [];
    const [, name] = STATEMENT.exec(code) ?? [];
    if (code === "" && header === "") header = chunk;
    else if (verb === undefined && name !== undefined)
      declared.set(name, [...(declared.get(name) ?? []), chunk]);
    for (const { own, shown, comment } of namesIn(list)) {
      if (verb === "export") passedOn.set(shown, { name: own, from, comment });
      else if (from !== undefined) imported.set(shown, { name: own, from });
    }
  }
  return { declared, imported, passedOn, header };
}

/** `A, type B as C`, each with the comment before it. @param {string} list */
function namesIn(list) {
  return list.split(",").flatMap((written) => {
    const [comment = ""] = written.match(COMMENT) ?? [];
    const [own = "", shown = own] = written
      .replace(COMMENT, "")
      .trim()
      .replace(/^type /, "")
      .split(" as ");
    return own === "" ? [] : [{ own, shown, comment: comment && `${comment} ` }];
  });
}

/** Every word that a declaration uses. @param {string} declaration @returns {ReadonlySet<string>} */
export function wordsIn(declaration) {
  return new Set(
    declaration
      .replace(COMMENT, "")
      .replace(TEXT, "")
      .match(/[A-Za-z_$][\w$]*/g) ?? [],
  );
}

/**
 * Statements with the comments before them; a comment without a statement after it is a separate chunk.
 *
 * @param {string} text
 */
function chunksOf(text) {
  /** @type {string[]} */
  const chunks = [];
  let lines = /** @type {string[]} */ ([]);
  for (const line of text.split("\n")) {
    if (
      lines.length > 0 &&
      line.startsWith("import ") &&
      lines.join("\n").replace(COMMENT, "").trim() === ""
    ) {
      chunks.push(lines.join("\n"));
      lines = [];
    }
    lines.push(line);
    if (isWhole(lines.join("\n"))) {
      chunks.push(lines.join("\n").trim());
      lines = [];
    }
  }
  return chunks;
}

/**
 * Whether the text ends a statement: brackets closed, then a semicolon or the closing brace of a body.
 *
 * @param {string} text
 */
function isWhole(text) {
  const code = text.replace(COMMENT, "").replace(TEXT, '""').replace(/=>/g, "");
  if (code.includes("/*")) return false;
  const depth = [...code].reduce(
    (sum, sign) => sum + ("([{<".includes(sign) ? 1 : ")]}>".includes(sign) ? -1 : 0),
    0,
  );
  if (depth !== 0) return false;
  // A brace ends what has a body. A type may continue after one: a comment and the next object of a union may follow.
  return /(?:^|\n)(?:export )?(?:declare )?type \w/.test(code)
    ? code.trimEnd().endsWith(";")
    : /[;}]$/.test(code.trimEnd());
}
