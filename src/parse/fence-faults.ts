/** What can be wrong about the lines that fence the frontmatter, worded once. Lines are 1-based. */
import type { Fault } from "./fault.ts";

const FENCES =
  "Begin the file with a line `---`, then the keys, then a second line `---`, then the instructions.";

export function missingFrontmatter(isEmpty: boolean): Fault {
  return {
    code: "frontmatter.missing",
    severity: "error",
    message: isEmpty ? "The file is empty." : "The file does not begin with frontmatter.",
    line: 1,
    hint: `${FENCES} \`description\` is the one key that every skill needs.`,
  };
}

export function missingOpening(line: number): Fault {
  return {
    code: "frontmatter.no-opening",
    severity: "error",
    message:
      "The frontmatter has no opening `---`; the keys at the beginning of the file were read all the same.",
    line,
    hint: "Put a line `---` before the first key.",
  };
}

export function unclosedFrontmatter(line: number): Fault {
  return {
    code: "frontmatter.unclosed",
    severity: "error",
    message:
      "The frontmatter has no closing `---`; the keys were read up to the first line that is not YAML.",
    line,
    hint: "Put a line `---` after the last key.",
  };
}

export function gluedFence(line: number): Fault {
  return {
    code: "frontmatter.glued-fence",
    severity: "warning",
    message: "Text follows the closing `---` on its line; it was read as the beginning of the body.",
    line,
    hint: "Leave `---` alone on its line.",
  };
}

export function strayFence(line: number): Fault {
  return {
    code: "frontmatter.stray-fence",
    severity: "warning",
    message: "An empty `---` block stands before the frontmatter; it was skipped.",
    line,
    hint: "Keep one `---` before the keys and one after them.",
  };
}

export function codeFence(line: number): Fault {
  return {
    code: "frontmatter.code-fence",
    severity: "warning",
    message: "The frontmatter stands in a code block; it was read as if it did not.",
    line,
    hint: "Remove the lines of backticks around it.",
  };
}

export function leadingComment(line: number): Fault {
  return {
    code: "frontmatter.leading-comment",
    severity: "warning",
    message: "A comment stands before the frontmatter; it was skipped.",
    line,
    hint: "Move the comment below the closing `---`: many clients need `---` on the first line.",
  };
}

export function leadingBlank(line: number): Fault {
  return {
    code: "frontmatter.leading-blank",
    severity: "info",
    message: "Blanks or blank lines stand before the opening `---`; they were skipped.",
    line,
    hint: "Let the file begin with `---`: some clients need it there.",
  };
}
