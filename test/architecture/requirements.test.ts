/** Every requirement and behaviour case that is due has a test that cites it, and every citation is of a known one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BEHAVIOUR_CASES } from "../behaviour-cases.ts";
import { DUE, REQUIREMENTS, type Requirement } from "../requirements.ts";
import { type Citations, collectCitations } from "../support/citations.ts";
import { ROOT } from "../support/repository.ts";

function unproven(rows: readonly Requirement[], cited: Citations): readonly string[] {
  return rows
    .filter((row) => DUE.includes(row.stage) && !cited.has(row.id) && !hasBench(row))
    .map((row) => `${row.id}: ${row.title}`);
}

function hasBench({ bench }: Requirement): boolean {
  return bench !== undefined && existsSync(join(ROOT, bench));
}

function unknown(rows: readonly Requirement[], cited: Citations): readonly string[] {
  const known = new Set(rows.map((row) => row.id));
  return [...cited]
    .filter(([id]) => !known.has(id))
    .map(([id, paths]) => `${id} in ${[...paths].join(", ")}`);
}

const { requirements, cases } = collectCitations();

test("every requirement that is due is proven", () => {
  expect(unproven(REQUIREMENTS, requirements)).toEqual([]);
});

test("every behaviour case that is due is proven", () => {
  expect(unproven(BEHAVIOUR_CASES, cases)).toEqual([]);
});

test("tests cite only requirements and cases that exist", () => {
  expect(unknown(REQUIREMENTS, requirements)).toEqual([]);
  expect(unknown(BEHAVIOUR_CASES, cases)).toEqual([]);
});

test("requirements and cases are numbered without a gap", () => {
  expect(REQUIREMENTS.map((row) => row.id)).toEqual(Array.from({ length: 212 }, (_, index) => index + 1));
  expect(BEHAVIOUR_CASES.map((row) => row.id)).toEqual(Array.from({ length: 137 }, (_, index) => index + 1));
});
