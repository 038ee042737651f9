/** Real files: whatever has a description in something like frontmatter is read. */
import { parseSimpleYaml } from "@metier/skills";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { CORPUS_IS_HERE, type CorpusFile, readCorpus } from "./corpus-files.ts";

const WHY_NOT = CORPUS_IS_HERE ? "" : " (skipped: no real files at ../shared/corpus/skills)";

/** Whether a person would see a description: a line for it near the beginning, with text there or indented below. */
function showsDescription({ text }: CorpusFile): boolean {
  const lines = text.split(/\r\n|\r|\n|\\n/).slice(0, 40);
  const index = lines.findIndex((line) => line.startsWith("description:"));
  const value = lines[index]?.slice("description:".length).trim() ?? "";
  if (/^[|>]?[-+]?$/.test(value)) return index !== -1 && /^\s+\S/.test(lines[index + 1] ?? "");
  return value !== '""' && value !== "''";
}

function hasDescription({ parsed }: CorpusFile): boolean {
  const description = parsed.frontmatter?.description;
  return typeof description === "string" && description.trim() !== "";
}

test.skipIf(!CORPUS_IS_HERE)(`every file with a description is read with it${WHY_NOT}`, async () => {
  const files = await readCorpus();
  const missed = files.filter((file) => showsDescription(file) && !hasDescription(file));
  expect(missed.map(({ path }) => path)).toEqual([]);
  expect(files.filter(showsDescription).length).toBeGreaterThan(200);
});

test.skipIf(!CORPUS_IS_HERE)(
  `every file without frontmatter has an error that says why${WHY_NOT}`,
  async () => {
    for (const { parsed, path } of await readCorpus()) {
      const hasError = parsed.diagnostics.some(({ severity }) => severity === "error");
      if (parsed.frontmatter === undefined) expect(hasError, path).toBe(true);
      for (const diagnostic of parsed.diagnostics) expect(diagnostic.line, path).toBeGreaterThanOrEqual(1);
    }
  },
);

test.skipIf(!CORPUS_IS_HERE)(`the simple reader reads as the full one does${WHY_NOT}`, async () => {
  let read = 0;
  for (const { yaml, path } of await readCorpus()) {
    const simple = parseSimpleYaml(yaml);
    if (simple === undefined) continue;
    read++;
    expect(simple, path).toStrictEqual(parse(yaml, { stringKeys: true }));
  }
  expect(read).toBeGreaterThan(100);
});
