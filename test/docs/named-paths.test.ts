/** What the documents name exists: files and folders in backticks, targets of links, the documents themselves. */
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Document, prose, ROOT_DOCUMENTS, readDocuments } from "../support/documents.ts";
import { filesUnder, ROOT, readRepositoryFile, SOURCES } from "../support/repository.ts";

const TOP_FOLDERS = ["packages", "test", "scripts", "bench", "docs", "examples", "tools", ".ci"];
/** The folders of the packages, which documents may name without the package where it is clear. */
const PARTS = [...new Set(filesUnder(SOURCES, [".ts"]).map((path) => path.split("/")[3] ?? ""))].filter(
  (part) => !part.endsWith(".ts"),
);

/** Of MCP: one begins as a folder does. */
const METHODS = ["tools/list", "tools/call"];

/** Words in backticks that can only be meant as a path in this repository. */
function namedPaths(document: Document): readonly string[] {
  const words = [...prose(document).matchAll(/`([\w./*-]+)`/g)].map((match) => match[1] ?? "");
  return words.filter(
    (word) =>
      (word.includes("/") &&
        !METHODS.includes(word) &&
        [...TOP_FOLDERS, ...PARTS].includes(word.split("/")[0] ?? "")) ||
      ROOT_DOCUMENTS.includes(word),
  );
}

function exists(path: string): boolean {
  const places = [path, ...SOURCES.map((folder) => join(folder, path))].map((place) => join(ROOT, place));
  return places.some((place) => (place.includes("*") ? globSync(place).length > 0 : existsSync(place)));
}

function linkTargets(document: Document): readonly string[] {
  return [...prose(document).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => (match[1] ?? "").replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target));
}

test("the documents every reader looks for are there", () => {
  const missing = [...ROOT_DOCUMENTS, "LICENSE"].filter((path) => !existsSync(join(ROOT, path)));
  expect(missing).toEqual([]);
});

test("every path that a document names exists", () => {
  const missing = readDocuments().flatMap((document) =>
    namedPaths(document)
      .filter((path) => !exists(path))
      .map((path) => `${document.path}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test("every relative link leads somewhere", () => {
  const broken = readDocuments().flatMap((document) =>
    linkTargets(document)
      .filter((target) => !existsSync(join(ROOT, dirname(document.path), target)))
      .map((target) => `${document.path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test("every package is named in ARCHITECTURE.md, and has a page of its own", () => {
  const text = readRepositoryFile("ARCHITECTURE.md");
  const names = SOURCES.map((folder) => folder.split("/")[1] ?? "");
  expect(names.filter((name) => !text.includes(name))).toEqual([]);
  const pages = names.map((name) => readRepositoryFile(`packages/${name}/README.md`).split("\n").length);
  expect(pages.filter((lines) => lines < 20 || lines > 100)).toEqual([]);
});
