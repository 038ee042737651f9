/** `strict` against the reference validator, over real files. Skipped where those files are not. */
import { validateSkill } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { CORPUS_IS_HERE, type CorpusFile, readCorpus } from "./corpus-files.ts";
import { ACCEPTED_WRONGLY, REFUSED_WRONGLY } from "./reference-faults.ts";

const title = CORPUS_IS_HERE
  ? "over the corpus"
  : "over the corpus: skipped, since `../shared/corpus` is not here";

describe.skipIf(!CORPUS_IS_HERE)(title, () => {
  test("`strict` gives the reference's verdict, but for the reference's known faults", async () => {
    const files = (await readCorpus()).filter(({ verdict }) => verdict !== "not-run");
    expect(files.length).toBeGreaterThan(100);
    expect(files.map(unexplainedDifference).filter((difference) => difference !== undefined)).toEqual([]);
  });

  test("`standard` loads every file whose frontmatter has a description", async () => {
    const unloaded = (await readCorpus())
      .filter(({ parsed }) => hasDescription(parsed.frontmatter?.description))
      .filter(({ parsed }) => validateSkill(parsed, "standard").manifest === undefined);
    expect(unloaded.map(({ path }) => path)).toEqual([]);
  });

  test("a file that does not load has an error with its path and line", async () => {
    for (const { path, parsed } of await readCorpus()) {
      const { manifest, diagnostics } = validateSkill(parsed, "standard");
      const errors = diagnostics.filter(({ severity }) => severity === "error");
      if (manifest === undefined) expect(errors.length, path).toBeGreaterThan(0);
      for (const diagnostic of diagnostics)
        expect(diagnostic, path).toMatchObject({ path: parsed.candidate.file, line: expect.any(Number) });
    }
  });
});

/** `undefined` when the verdicts agree, or when a known fault of the reference explains why they do not. */
function unexplainedDifference(file: CorpusFile): string | undefined {
  const { valid, diagnostics } = validateSkill(file.parsed, "strict");
  const accepted = file.verdict.length === 0;
  if (valid === accepted) return undefined;
  if (valid) {
    return REFUSED_WRONGLY.some((fault) => fault.applies(file))
      ? undefined
      : `${file.path}: only the reference refuses it`;
  }
  const explained = ACCEPTED_WRONGLY.filter((fault) => fault.applies(file)).flatMap((fault) => fault.codes);
  const errors = diagnostics.filter(
    ({ severity, code }) => severity === "error" && !explained.includes(code),
  );
  return errors.length === 0
    ? undefined
    : `${file.path}: only \`strict\` refuses it: ${errors.map(({ code }) => code)}`;
}

function hasDescription(value: unknown): boolean {
  return typeof value === "string" ? value.trim() !== "" : value !== undefined && value !== null;
}
