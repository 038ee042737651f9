/** What runs inside a sandbox is bound there as one folder: it can import nothing that lies elsewhere. */
import { readdirSync } from "node:fs";
import { BIN, INSIDE, insideCommand, insideFolder } from "@metier/sandbox";
import { expect, test } from "vitest";
import { filesUnder, readRepositoryFile } from "../support/repository.ts";

const FOLDER = "packages/sandbox/src/sandbox/inside";
const COMMENT = /\/\*[\s\S]*?\*\//g;
const IMPORT = /\b(?:from|import)\s*\(?\s*"([^"]+)"/g;

test("files that run inside a sandbox import only each other and Node's own modules", () => {
  const wrong = filesUnder([FOLDER], [".ts"]).flatMap((file) =>
    [...readRepositoryFile(file).replace(COMMENT, "").matchAll(IMPORT)]
      .map(([, name = ""]) => name)
      .filter((name) => !name.startsWith("node:") && !/^\.\/[\w-]+\.ts$/.test(name))
      .map((name) => `${file} -> ${name}`),
  );
  expect(wrong).toEqual([]);
});

test("they are found where the sources are, and started by their place inside", () => {
  expect(readdirSync(insideFolder())).toContain("metier-sb.ts");
  expect(insideCommand("metier-sb")).toEqual([`${BIN}/node`, "--no-warnings", `${INSIDE}/metier-sb.ts`]);
});
