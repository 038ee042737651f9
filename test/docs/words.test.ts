/**
 * The gate over words: texts for people use plain English, short sentences and the words of the glossary. To see every fault
 * with what to write instead: `node scripts/docs/check-words.mjs [path …]`.
 */
import { expect, test } from "vitest";
import { findFaults, readGlossary } from "../../scripts/docs/words/find-faults.mjs";
import { markdownSentences } from "../../scripts/docs/words/sentences.mjs";
import { allTexts, readSentences } from "../../scripts/docs/words/texts.mjs";
import { readRepositoryFile } from "../support/repository.ts";

const glossary = readGlossary(readRepositoryFile("GLOSSARY.md"));

function faultsOf(text: string): readonly string[] {
  return findFaults(markdownSentences(text), glossary).map(({ line, found }) => `${line}: ${found}`);
}

test("every text uses plain words, short sentences and known terms", () => {
  const faults = allTexts().flatMap((path) =>
    findFaults(readSentences(path), glossary).map(
      ({ line, found, instead }) => `${path}:${line}: “${found}”: ${instead}`,
    ),
  );
  expect(faults).toEqual([]);
});

test("a phrase is found with its line, also across lines and in tables", () => {
  expect(faultsOf("# Title\n\nIt has a folder of its\nown here.")).toEqual(["3: of its own"]);
  expect(faultsOf("| Key | Meaning |\n| --- | --- |\n| `a` | Read anew. |")).toEqual(["3: anew"]);
  expect(faultsOf("What is fetched waits in a folder.")).toEqual(["1: What is fetched waits in a folder."]);
});

test("code is left out", () => {
  expect(faultsOf("Run `begin anew` now.\n\n```sh\nbegin anew\n```\n")).toEqual([]);
});

test("a long sentence is found, and a short one isn't", () => {
  const words = (count: number): string => `${Array.from({ length: count }, () => "word").join(" ")}.`;
  expect(faultsOf(words(35))).toEqual([]);
  expect(faultsOf(words(36))).toEqual([expect.stringContaining("36 words")]);
});

test("a term in italics must be in the glossary, and a word that the glossary avoids is found", () => {
  expect(faultsOf("A *catalog* has *skills*.")).toEqual([]);
  expect(faultsOf("A *gizmo* has skills.")).toEqual(["1: *gizmo*"]);
  expect(faultsOf("The lockfile lists skills.")).toEqual(["1: lockfile"]);
});
