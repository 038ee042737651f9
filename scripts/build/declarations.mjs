/**
 * The declarations that the library's public names need, and no others: internals stay internal. Workspace packages
 * are not published, so their doors become paths: `dist/types/<package>/…`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { ROOT, runQuietly } from "../setup/repository.mjs";
import { readParts, wordsIn } from "./declared-parts.mjs";
import { LIBRARY_ENTRIES } from "./library-entries.mjs";
import { fileOf } from "./open-doors.mjs";

const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");
const FLAGS = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--noCheck", "--rootDir", ROOT];
const INLINE = /\bimport\("([^"]+)"\)\.(\w+)/g;
/** A toolset imports a separate file, which runs inside a sandbox. */
const TOOLSET = "packages/sandbox/src/sandbox/inside/define-toolset.ts";

/**
 * The same again for `require`: Node can load ES modules with it, but TypeScript before 5.8 doesn't accept that for
 * files it considers ES modules. Without comments, which would enlarge the package by a hundredth for the sake of an
 * old compiler.
 */
export const CJS = "cjs";
const SENTENCE = /^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm;

/** @typedef {import("./declared-parts.mjs").DeclaredParts} DeclaredParts */

/** @param {string} folder for the declarations of the entries and everything they name */
export function writeDeclarations(folder) {
  const all = mkdtempSync(join(tmpdir(), "metier-declarations-"));
  try {
    const result = runQuietly(process.execPath, [TSC, ...FLAGS, "--outDir", all]);
    if (!result.ok) throw new Error(`Can't write the declarations:\n${result.output}`);
    for (const [source, text] of collect(all)) {
      const forms = { [folder]: text, [join(folder, CJS)]: text.replace(SENTENCE, "") };
      for (const [place, form] of Object.entries(forms)) {
        const file = join(place, declarationOf(source));
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, form);
      }
    }
    writeFileSync(join(folder, CJS, "package.json"), '{ "type": "commonjs" }\n');
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

/** `packages/skills/src/skill/skill.ts` is declared in `skills/skill/skill.d.ts`. @param {string} source */
export function declarationOf(source) {
  return source.replace(/^packages\/([^/]+)\/src\//, "$1/").replace(/\.ts$/, ".d.ts");
}

/** @typedef {{ parts: DeclaredParts, names: Set<string> }} NeededFile */

/** Each needed file, with its needed declarations. @param {string} all @returns {Map<string, string>} */
function collect(all) {
  /** @type {Map<string, NeededFile>} */
  const files = new Map();
  /** @param {string} source */
  const open = (source) => {
    const known = files.get(source) ?? {
      parts: readParts(readFileSync(join(all, source.replace(/\.ts$/, ".d.ts")), "utf8")),
      names: new Set(),
    };
    files.set(source, known);
    return known;
  };
  const needed = [...Object.values(LIBRARY_ENTRIES), TOOLSET].flatMap((source) => {
    const { passedOn, declared } = open(source).parts;
    return [...passedOn.keys(), ...declared.keys()].map((name) => ({ source, name }));
  });
  for (const { source, name } of needed) {
    const { parts, names } = open(source);
    if (names.has(name)) continue;
    names.add(name);
    needed.push(...needsOf(name, source, parts));
  }
  return new Map([...files].map(([source, { parts, names }]) => [source, writeFile(source, parts, names)]));
}

/**
 * What else a name needs: everything its declaration names, or what it re-exports.
 *
 * @param {string} name @param {string} source @param {DeclaredParts} parts
 * @returns {readonly { source: string, name: string }[]}
 */
function needsOf(name, source, { declared, imported, passedOn }) {
  const declarations = declared.get(name);
  if (declarations === undefined) {
    const link = passedOn.get(name) ?? imported.get(name);
    if (link === undefined || link.from?.startsWith("node:")) return [];
    const target = link.from === undefined ? source : resolveName(link.from, link.name, source);
    return [{ source: target, name: link.name }];
  }
  return declarations.flatMap((declaration) => [
    ...[...wordsIn(declaration)]
      .filter((word) => word !== name && (declared.has(word) || imported.has(word)))
      .map((word) => ({ source, name: word })),
    ...[...declaration.matchAll(INLINE)]
      .filter(([, from = ""]) => !from.startsWith("node:"))
      .map(([, from = "", type = ""]) => ({ source: resolveName(from, type, source), name: type })),
  ]);
}

/** @param {string} source @param {DeclaredParts} parts @param {ReadonlySet<string>} names */
function writeFile(source, { declared, imported, passedOn, header }, names) {
  /** @param {string} from @param {string} name */
  const pathTo = (from, name) => {
    if (from.startsWith("node:")) return from;
    const target = declarationOf(resolveName(from, name, source));
    const path = relative(dirname(declarationOf(source)), target).replace(/\.d\.ts$/, ".ts");
    return path.startsWith(".") ? path : `./${path}`;
  };
  /** @param {string} own @param {string} shown */
  const as = (own, shown) => (own === shown ? own : `${own} as ${shown}`);
  const lines = [...imported]
    .filter(([shown]) => names.has(shown))
    .map(([shown, { name, from }]) => `import type { ${as(name, shown)} } from "${pathTo(from, name)}";`);
  const body = [...declared]
    .filter(([name]) => names.has(name))
    .flatMap(([, declarations]) =>
      declarations.map((text) =>
        text.replace(INLINE, (_all, from, name) => `import("${pathTo(from, name)}").${name}`),
      ),
    );
  const others = [...passedOn]
    .filter(([shown]) => names.has(shown))
    .map(([shown, { name, comment, from = imported.get(name)?.from }]) => {
      const target = from === undefined ? "" : ` from "${pathTo(from, imported.get(name)?.name ?? name)}"`;
      return `export { ${comment}${as(name, shown)} }${target};`;
    });
  return `${[header, ...lines, ...others, ...body, "export {};"].filter(Boolean).join("\n")}\n`;
}

/** @param {string} from as written @param {string} name @param {string} source @returns {string} a source below `packages` */
function resolveName(from, name, source) {
  if (from.startsWith(".")) return join(dirname(source), from);
  if (from.startsWith("@metier/")) return relative(ROOT, fileOf(from, name));
  throw new Error(`${source} shows \`${from}\`, which users don't have, in a public type.`);
}
