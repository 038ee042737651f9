/**
 * The texts that the gate over words reads, by file. The reference pages are made from the tables of the program (help,
 * diagnostics, config keys, fields), so checking those pages checks the tables.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../setup/repository.mjs";
import { helpSentences, markdownSentences, plainSentences } from "./sentences.mjs";

/** @typedef {import("./sentences.mjs").Sentence} Sentence */

const DOCUMENTS = ["README.md", "SECURITY.md", "GLOSSARY.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
const HELP = "docs/reference/commands.md";
/** Where a message for people is written in the code. */
const MESSAGE = /\b(message|hint|summary|about|help): (?:"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;

/** @returns {readonly string[]} the paths of all texts */
export function allTexts() {
  const packages = readdirSync(join(ROOT, "packages")).map((name) => `packages/${name}`);
  return [
    ...[...DOCUMENTS, ...packages.map((folder) => `${folder}/README.md`)].filter((path) =>
      existsSync(join(ROOT, path)),
    ),
    ...filesIn("docs", ".md"),
    ...packages.flatMap((folder) => filesIn(`${folder}/src`, ".ts")),
  ];
}

/** @param {string} folder @param {string} ending */
function filesIn(folder, ending) {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .sort();
}

/** @param {string} path @returns {readonly Sentence[]} */
export function readSentences(path) {
  const text = readFileSync(join(ROOT, path), "utf8");
  if (path.endsWith(".ts")) return messagesIn(text);
  return path === HELP ? [...markdownSentences(text), ...helpIn(text)] : markdownSentences(text);
}

/** @param {string} text */
function helpIn(text) {
  return [...text.matchAll(/^```text\n(.*?)^```$/gms)].flatMap((block) =>
    helpSentences(block[1] ?? "", lineAt(text, block.index) + 1),
  );
}

/** @param {string} text */
function messagesIn(text) {
  return [...text.matchAll(MESSAGE)].flatMap((match) => {
    const isCaption = /summary|about/.test(match[1] ?? "");
    const said = (match[2] ?? match[3] ?? "").replaceAll("\\`", "`").replace(/\$\{[^}]*\}/g, "`…`");
    return plainSentences(said.replaceAll("\\n", " "), lineAt(text, match.index), isCaption);
  });
}

/** @param {string} text @param {number} index */
function lineAt(text, index) {
  return text.slice(0, index).split("\n").length;
}
