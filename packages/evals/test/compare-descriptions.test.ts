import { expect, test } from "vitest";
import { compareDescriptions, type DescribedSkill } from "../src/routing/compare-descriptions.ts";

const skill = (name: string, description: string): DescribedSkill => ({
  name,
  description,
  manifest: { tags: [] },
});

const PDF = skill("pdf-fill", "Fill PDF forms and merge PDF files. Use when someone has a form to fill in.");
const PDF_COPY = skill(
  "pdf-forms",
  "Fill in PDF forms, merge PDF files. Use when somebody has a form to fill.",
);
const TAX = skill("tax-forms", "Fill tax forms and merge files.");
const CHESS = skill("chess", "Play a game of chess against the user.");

test("skills that say the same are near duplicates, those that share words can be mistaken", async () => {
  const { names, matrix, pairs } = await compareDescriptions([CHESS, PDF, PDF_COPY, TAX]);
  expect(names).toEqual(["chess", "pdf-fill", "pdf-forms", "tax-forms"]);
  expect(pairs[0]).toMatchObject({ skills: ["pdf-fill", "pdf-forms"], verdict: "near-duplicate" });
  expect(pairs[0]?.shared).toContain("pdf");
  expect(pairs.filter(({ skills }) => skills.includes("chess"))).toEqual([]);
  expect(matrix.map((row, index) => row[index])).toEqual([1, 1, 1, 1]);
  expect(matrix[0]?.[1]).toBeLessThan(0.2);
});

test("a suggestion names what both speak of, and who does not say when to use it", async () => {
  const { pairs } = await compareDescriptions([CHESS, PDF, TAX]);
  const found = pairs.find(({ skills }) => skills.join() === "pdf-fill,tax-forms");
  expect(found?.verdict).toBe("confusable");
  expect(found?.suggestion).toMatch(/both mention .*\bforms\b.*`tax-forms` should say when to use it\./);
});

test("the same catalog gives the same answer in any order", async () => {
  expect(await compareDescriptions([TAX, PDF, CHESS, PDF_COPY])).toEqual(
    await compareDescriptions([CHESS, PDF_COPY, TAX, PDF]),
  );
});

test("a catalog without skills, or with one, has no pairs", async () => {
  expect((await compareDescriptions([])).pairs).toEqual([]);
  expect((await compareDescriptions([PDF])).pairs).toEqual([]);
});

test("a large catalog is compared in turns, which say how far it is and can be stopped", async () => {
  const skills = Array.from({ length: 50 }, (_, index) => skill(`s${index}`, `Does thing number ${index}.`));
  const steps: number[] = [];
  const stop = new AbortController();
  const { matrix } = await compareDescriptions(skills, {
    signal: stop.signal,
    onProgress(done, total) {
      steps.push(done);
      expect(total).toBe(50);
      if (done === 40) stop.abort();
    },
  });
  expect(steps).toEqual([0, 20, 40]);
  expect(matrix).toHaveLength(40);
});
