/** `validate --fix` over real files: what is written back reads as the same skill. Skipped where those files are not. */
import { fixSkill, parseSkill, validateSkill } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { CORPUS_IS_HERE, readCorpus } from "./corpus-files.ts";

const title = CORPUS_IS_HERE
  ? "over the corpus"
  : "over the corpus: skipped, since `../shared/corpus` is not here";

describe.skipIf(!CORPUS_IS_HERE)(title, () => {
  test("fixed files keep name, description and body, have fewer findings and need no second fix", async () => {
    let changed = 0;
    for (const { path, text, parsed } of await readCorpus()) {
      const { candidate } = parsed;
      const { text: result, fixed } = await fixSkill(text, candidate);
      const after = await parseSkill(candidate, result);
      const [old, now] = [validateSkill(parsed, "standard"), validateSkill(after, "standard")];
      expect(after.body, path).toBe(parsed.body);
      expect(now.manifest?.name, path).toBe(old.manifest?.name);
      expect(now.manifest?.description, path).toBe(old.manifest?.description);
      expect(now.diagnostics.length, path).toBeLessThanOrEqual(old.diagnostics.length - fixed.length);
      expect(await fixSkill(result, candidate), path).toEqual({ text: result, fixed: [] });
      if (fixed.length === 0) expect(result, path).toBe(text);
      else changed += 1;
    }
    expect(changed).toBeGreaterThan(20);
  });
});
