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

test("skills that say the same are near duplicates, those that share words can be mistaken", () => {
  const { names, matrix, pairs } = compareDescriptions([CHESS, PDF, PDF_COPY, TAX]);
  expect(names).toEqual(["chess", "pdf-fill", "pdf-forms", "tax-forms"]);
  expect(pairs[0]).toMatchObject({ skills: ["pdf-fill", "pdf-forms"], verdict: "near-duplicate" });
  expect(pairs[0]?.shared).toContain("pdf");
  expect(pairs.filter(({ skills }) => skills.includes("chess"))).toEqual([]);
  expect(matrix.map((row, index) => row[index])).toEqual([1, 1, 1, 1]);
  expect(matrix[0]?.[1]).toBeLessThan(0.2);
});

test("a suggestion names what both speak of, and who does not say when to use it", () => {
  const { pairs } = compareDescriptions([CHESS, PDF, TAX]);
  const found = pairs.find(({ skills }) => skills.join() === "pdf-fill,tax-forms");
  expect(found?.verdict).toBe("confusable");
  expect(found?.suggestion).toMatch(/both speak of .*\bforms\b.*`tax-forms` should say when to use it\./);
});

test("the same catalog gives the same answer in any order", () => {
  expect(compareDescriptions([TAX, PDF, CHESS, PDF_COPY])).toEqual(
    compareDescriptions([CHESS, PDF_COPY, TAX, PDF]),
  );
});

test("a catalog without skills, or with one, has no pairs", () => {
  expect(compareDescriptions([]).pairs).toEqual([]);
  expect(compareDescriptions([PDF]).pairs).toEqual([]);
});
