/** Imports point down: the layers of `ARCHITECTURE.md` as one array, and nothing in `src` outside of it. */
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { filesUnder, readRepositoryFile } from "../support/repository.ts";

/** Lowest first. A file imports from its own part and from the parts before it. */
const LAYERS: readonly string[] = [
  "foundation",
  "skill",
  "host",
  "config",
  "trust",
  "lock",
  "sources",
  "parse",
  "validate",
  "catalog",
  "find",
  "disclose",
  "shell",
  "scan",
  "secrets",
  "events",
  "sandbox",
  "egress",
  "capabilities",
  "remote",
  "install",
  "model",
  "tools",
  "desk",
  "agents",
  "invoke",
  "run",
  "runtime",
  "facades",
  "adapters",
  "testing",
  "evals",
  "publish",
  "mcp",
  "index.ts",
  "cli",
];

/** `import … from "./x"`, `export … from "./x"`, `import "./x"` and `import("./x")`, types included. */
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

interface Import {
  readonly from: string;
  readonly to: string;
}

function relativeImports(): readonly Import[] {
  return filesUnder(["src"], [".ts"]).flatMap((from) =>
    [...readRepositoryFile(from).matchAll(IMPORT)].map((match) => ({
      from,
      to: normalize(join(dirname(from), match[1] ?? "")),
    })),
  );
}

/** The folder (or file) directly below `src`. */
function partOf(path: string): string {
  return path.split("/")[1] ?? "";
}

test("every part of src has a layer, and every layer is a part of src", () => {
  const parts = new Set(filesUnder(["src"], [".ts"]).map(partOf));
  expect([...parts].sort()).toEqual(LAYERS.toSorted());
});

test("ARCHITECTURE.md states the same order", () => {
  const [, order = ""] = /`(foundation <[^`]+)`/.exec(readRepositoryFile("ARCHITECTURE.md")) ?? [];
  expect(order.split("<").map((part) => part.trim())).toEqual(LAYERS);
});

test("imports point down", () => {
  const wrong = relativeImports()
    .filter(({ from, to }) => LAYERS.indexOf(partOf(from)) < LAYERS.indexOf(partOf(to)))
    .map(({ from, to }) => `${from} -> ${to}`);
  expect(wrong).toEqual([]);
});

test("imports stay inside src", () => {
  const wrong = relativeImports().filter(({ to }) => !to.startsWith("src/"));
  expect(wrong).toEqual([]);
});
