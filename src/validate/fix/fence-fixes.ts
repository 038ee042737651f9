/** Fixes for the beginning of the file and the fences of its frontmatter. */
import { bare, type Fix, type FixableFile, withLines } from "./fixable-file.ts";

/** A byte order mark, blanks and blank lines before the opening fence go. */
export const trimStart: Fix = ({ lines }) => [lines.join("").replace(/^\s+/, "")];

/** `---# Title` → `---`, a blank line, `# Title`. */
export const separateFence: Fix = (file, line) => {
  const text = bare(file.lines[line - 1] ?? "");
  return text.startsWith("---") ? [withLines(file, line - 1, 1, ["---", "", text.slice(3).trimStart()])] : [];
};

export const addClosingFence: Fix = (file) => [close(file)];

export const addBothFences: Fix = (file, line) => {
  const keys = file.lines.slice(0, line - 1).join("").length;
  const closed = close(file);
  return [`${closed.slice(0, keys)}---${file.lineEnd}${closed.slice(keys)}`];
};

/** The closing fence goes where the keys were read to, before the blank lines there. */
function close(file: FixableFile): string {
  const { body, bodyLine } = file.parsed;
  const end = body === "" ? file.lines.length : bodyLine - 1;
  const last = file.lines.slice(0, end).findLastIndex((line) => line.trim() !== "");
  const isTight = body !== "" && last + 1 === end;
  return withLines(file, last + 1, 0, isTight ? ["---", ""] : ["---"]);
}
