/** Tabs, no-break blanks and `&nbsp;` where YAML needs spaces, and an indentation that all lines have in common. */
import type { Fault } from "./fault.ts";
import { isBlankLine } from "./yaml-lines.ts";

const LEADING_BLANKS = /^(?:&nbsp;|\s)+/;
const MARK_BLANKS = /^( *(?:- +)*(?:-|[\p{L}_][\p{L}\p{N}_.-]*:))[^\S ]+/u;

/** Whether `&nbsp;` stands where blanks are meant: YAML takes it for an anchor and does not complain. */
export function hasFalseBlanks(text: string): boolean {
  return /^&nbsp;/m.test(text);
}

/** The lines with spaces instead; a fault for the first that had something else. */
export function repairBlanks(
  lines: readonly string[],
  firstLine: number,
): { readonly lines: readonly string[]; readonly fault: Fault | undefined } {
  const spaced = lines.map(repairLine);
  const changed = spaced.findIndex((line, index) => line !== "" && line !== lines[index]);
  const fault = changed === -1 ? undefined : describeBlanks(lines[changed] ?? "", firstLine + changed);
  const first = spaced.find((line) => line !== "") ?? "";
  return { lines: removeIndent(spaced, first.search(/\S|$/)), fault };
}

function repairLine(line: string): string {
  if (isBlankLine(line)) return "";
  return line
    .replace(LEADING_BLANKS, (blanks) => blanks.replace(/&nbsp;|\s/g, (one) => (one === "\t" ? "  " : " ")))
    .replace(MARK_BLANKS, "$1 ");
}

function removeIndent(lines: readonly string[], width: number): readonly string[] {
  return width === 0 ? lines : lines.map((line) => line.slice(Math.min(width, line.search(/\S|$/))));
}

function describeBlanks(line: string, number: number): Fault {
  const hasTab = LEADING_BLANKS.exec(line)?.[0].includes("\t");
  return {
    code: "yaml.repaired",
    severity: "warning",
    message: `${hasTab ? "A tab stands" : "Blanks that are not spaces stand"} where YAML needs spaces; they were read as spaces.`,
    line: number,
    column: 1,
    hint: "Indent with spaces.",
  };
}
