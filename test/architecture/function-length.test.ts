/** No function of the packages is longer than a screen. Lines are counted from the name to the closing brace, by indentation. */
import { expect, test } from "vitest";
import { filesUnder, readRepositoryFile } from "../support/repository.ts";

const MAX_LINES = 60;
/** What opens a block and is no function. */
const NO_FUNCTION =
  /^(?:\} )?(?:if|else|for|while|do|switch|try|catch|finally|case|default|(?:export )?(?:abstract )?(?:class|interface|namespace|declare))\b/;
const OPENS_BODY = /(?:=> \{|\)(?:: .*)? \{|\} \{)$/;

interface Measured {
  readonly place: string;
  readonly lines: number;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Where the declaration begins whose parameters or type end in this line. */
function findStart(lines: readonly string[], at: number): number {
  const line = lines[at] ?? "";
  const isEnd = /^[)}\]>]/.test(line.trimStart());
  if (!isEnd) return at;
  for (let before = at - 1; before >= 0; before -= 1) {
    const other = lines[before] ?? "";
    if (other.trim() !== "" && indentOf(other) <= indentOf(line)) return findStart(lines, before);
  }
  return at;
}

function measureFunctions(path: string, text: string): readonly Measured[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    if (!OPENS_BODY.test(line)) return [];
    const start = findStart(lines, at);
    if (NO_FUNCTION.test((lines[start] ?? "").trimStart())) return [];
    const closing = `${" ".repeat(indentOf(line))}}`;
    const end = lines.findIndex((other, index) => index > at && other.startsWith(closing));
    return end === -1 ? [] : [{ place: `${path}:${start + 1}`, lines: end - start + 1 }];
  });
}

const SOURCES_OF_PACKAGES = filesUnder(["packages"], [".ts", ".tsx"]).filter((path) =>
  /^packages\/[^/]+\/src\//.test(path),
);

test(`no function of the packages has more than ${MAX_LINES} lines`, () => {
  const measured = SOURCES_OF_PACKAGES.flatMap((path) => measureFunctions(path, readRepositoryFile(path)));
  expect(measured.length).toBeGreaterThan(3000);
  expect(measured.filter(({ lines }) => lines > MAX_LINES)).toEqual([]);
});

test("functions are measured whole: parameters, methods, arrows and what is nested", () => {
  const body = "    work();\n".repeat(3);
  const text = `export function named(\n  first: string,\n): Promise<void> {\n${body}}\nconst arrow = (): void => {\n${body}};\nclass Thing {\n  method(one: number): void {\n${body}  }\n}\nif (yes) {\n${body}}\n`;
  expect(measureFunctions("x.ts", text)).toEqual([
    { place: "x.ts:1", lines: 7 },
    { place: "x.ts:8", lines: 5 },
    { place: "x.ts:14", lines: 5 },
  ]);
});
