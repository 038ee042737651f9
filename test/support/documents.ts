/** The project's documents, and the code blocks in them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, ROOT, readRepositoryFile } from "./repository.ts";

/** Documents that must be there. */
export const ROOT_DOCUMENTS: readonly string[] = [
  "README.md",
  "ARCHITECTURE.md",
  "GLOSSARY.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "DEPENDENCIES.md",
];

export interface Document {
  readonly path: string;
  readonly text: string;
}

export interface CodeBlock {
  readonly document: string;
  /** 1-based line of the opening fence. */
  readonly line: number;
  /** What stands after the opening fence: a language and words of our own, such as `ts run`. */
  readonly info: string;
  readonly code: string;
}

export function readDocuments(): readonly Document[] {
  const paths = [
    ...ROOT_DOCUMENTS.filter((path) => existsSync(join(ROOT, path))),
    ...filesUnder(["docs"], [".md"]),
  ];
  return paths.map((path) => ({ path, text: readRepositoryFile(path) }));
}

const FENCE = /^```([^\n`]*)\n(.*?)^```$/gms;

export function codeBlocks(document: Document): readonly CodeBlock[] {
  return [...document.text.matchAll(FENCE)].map((match) => ({
    document: document.path,
    line: document.text.slice(0, match.index).split("\n").length,
    info: (match[1] ?? "").trim(),
    code: match[2] ?? "",
  }));
}

export interface ShownFile {
  readonly path: string;
  readonly code: string;
}

/** The blocks that show a whole file, `ts in tell-distance/toolsets/places.ts`. */
export function filesShown(document: Document): readonly ShownFile[] {
  return codeBlocks(document).flatMap(({ info, code }) => {
    const [, path] = /^\w+ in (\S+)$/.exec(info) ?? [];
    return path === undefined ? [] : [{ path, code }];
  });
}

/** The text without its code blocks. */
export function prose(document: Document): string {
  return document.text.replace(FENCE, "");
}
