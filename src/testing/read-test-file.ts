/** A test file: one case, a list of cases, or the same below `cases`. Strict, because a misspelled key would test nothing. */
import { ConfigSyntaxError } from "../config/formats/config-document.ts";
import { parseYamlValue } from "../config/formats/yaml-document.ts";
import { type Fault, isTable, type Place, readData, readTable, report } from "./strict-reader.ts";
import type { LocatedCase, TestCase } from "./test-case.ts";
import { readCase } from "./test-case-schema.ts";

export interface TestFileFault {
  readonly line: number;
  readonly message: string;
  readonly hint?: string;
}

export type TestFileReading =
  | { readonly ok: true; readonly cases: readonly LocatedCase[] }
  | { readonly ok: false; readonly faults: readonly TestFileFault[] };

export function readTestFile(text: string): TestFileReading {
  const document = parse(text);
  if ("faults" in document) return { ok: false, ...document };
  const lineOf = (path: readonly string[]): number => document.locate(path)?.line ?? 1;
  const faults: Fault[] = [];
  const cases = readCases(document.value, { path: [], faults });
  if (faults.length === 0 && cases.length === 0) {
    report({ path: [], faults }, "The file has no case.", NO_CASE);
  }
  return faults.length === 0
    ? { ok: true, cases: cases.map(({ test, path }) => ({ test, line: lineOf(path) })) }
    : { ok: false, faults: faults.map(({ path, ...fault }) => ({ line: lineOf(path), ...fault })) };
}

function parse(
  text: string,
): ReturnType<typeof parseYamlValue> | { readonly faults: readonly TestFileFault[] } {
  try {
    return parseYamlValue(text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n"));
  } catch (fault) {
    // The parser recurses: nesting beyond the stack is the document's fault.
    if (!(fault instanceof ConfigSyntaxError || fault instanceof RangeError)) throw fault;
    const { line = 1 } = fault instanceof ConfigSyntaxError ? (fault.position ?? {}) : {};
    const why = fault instanceof ConfigSyntaxError ? fault.message : "it is nested too deeply";
    return { faults: [{ line, message: `The file cannot be read as YAML: ${why}.` }] };
  }
}

const NO_CASE = "Write a list of cases, each with `name` and what it is to `expect`.";

interface ReadCase {
  readonly test: TestCase;
  readonly path: readonly string[];
}

function readCases(value: unknown, place: Place): readonly ReadCase[] {
  if (isTable(value) && Object.keys(value).length === 0) return [];
  const isWrapped = isTable(value) && "cases" in value;
  if (isWrapped) readTable({ cases: readData })(value, place); // Nothing else may stand beside it.
  const list = isWrapped ? value.cases : value;
  const path = isWrapped ? [...place.path, "cases"] : place.path;
  if (!Array.isArray(list)) return readOne(list, { ...place, path });
  const cases = list.flatMap((item, number) => readOne(item, { ...place, path: [...path, String(number)] }));
  reportSameNames(cases, place);
  return cases;
}

function readOne(value: unknown, place: Place): readonly ReadCase[] {
  const test = readCase(value, place);
  if (test === undefined) return [];
  const { script, expect = {} } = test;
  if (script === undefined && (expect.tools ?? expect.result) !== undefined) {
    report(place, "`expect.tools` and `expect.result` are about a run, and without `script` there is none.");
  }
  if (script === undefined && expect.text === undefined && expect.refused === undefined) {
    report(place, "The case expects nothing.", "Say `text` or `refused` below `expect`, or give a `script`.");
  }
  return [{ test, path: place.path }];
}

function reportSameNames(cases: readonly ReadCase[], { faults }: Place): void {
  const names = new Set<string>();
  for (const { test, path } of cases) {
    if (names.has(test.name)) {
      report(
        { path, faults },
        `Two cases of this file have the name \`${test.name}\`.`,
        "Rename one of them.",
      );
    }
    names.add(test.name);
  }
}
