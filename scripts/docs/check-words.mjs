/**
 * `node scripts/docs/check-words.mjs [path …]`: checks the words of our texts for people, or of those below the given paths.
 * Prints each fault with file, line, the words, and what to write instead. Exits 1 if it found any.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../setup/repository.mjs";
import { findFaults, readGlossary } from "./words/find-faults.mjs";
import { allTexts, readSentences } from "./words/texts.mjs";

const chosen = process.argv.slice(2).map((path) => path.replace(/^\.\//, "").replace(/\/$/, ""));
const glossary = readGlossary(readFileSync(join(ROOT, "GLOSSARY.md"), "utf8"));
const paths = allTexts().filter(
  (path) => chosen.length === 0 || chosen.some((one) => path === one || path.startsWith(`${one}/`)),
);

const counts = paths.map((path) => {
  const faults = findFaults(readSentences(path), glossary);
  for (const { line, found, instead } of faults) console.log(`${path}:${line}: “${found}”: ${instead}`);
  return faults.length;
});
const total = counts.reduce((sum, count) => sum + count, 0);
console.log(`${total} faults in ${counts.filter((count) => count > 0).length} of ${paths.length} files.`);
process.exitCode = total === 0 ? 0 : 1;
