/** A skill file's text without byte order mark and with `\n` as its only line end; what was changed is a fault. */
import type { Fault } from "./fault.ts";

export function normaliseText(source: string, faults: Fault[]): string {
  let text = source;
  if (text.startsWith("\uFEFF")) {
    text = text.slice(1);
    faults.push(byteOrderMark());
  }
  if (text.includes("\r")) {
    text = text.replace(/\r\n?/g, "\n");
    faults.push(otherLineEnds());
  }
  // The file went through something that escaped it. Lines are then those of the text as it was meant.
  if (text.startsWith("---\\n")) {
    text = text.replaceAll("\\n", "\n");
    faults.push(escapedLineEnds());
  }
  return text;
}

function byteOrderMark(): Fault {
  return {
    code: "file.bom",
    severity: "info",
    message: "The file begins with a byte order mark, which was skipped.",
    line: 1,
    column: 1,
    hint: "Save the file as UTF-8 without a byte order mark.",
  };
}

function otherLineEnds(): Fault {
  return {
    code: "file.line-ends",
    severity: "info",
    message: "Lines end in CR LF or CR; they were read as LF.",
    line: 1,
    hint: "Save the file with LF line ends.",
  };
}

function escapedLineEnds(): Fault {
  return {
    code: "file.escaped-line-ends",
    severity: "warning",
    message: "The file has the two characters `\\n` where lines should end; they were read as line ends.",
    line: 1,
    column: 4,
    hint: "Write real line ends.",
  };
}
