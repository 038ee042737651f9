/** Reads the tables of a bench's section again, for the page of all goals and for comparing two versions. */

/**
 * @typedef {{ readonly head: readonly string[], readonly rows: readonly (readonly string[])[] }} Table
 * @typedef {{ readonly goal: string, readonly measured: string, readonly verdict: string }} Goal
 * @typedef {{ readonly name: string, readonly column: string, readonly value: number }} Cell
 */

/** @param {string} section Markdown @returns {readonly Table[]} */
export function readTables(section) {
  /** @type {{ head: readonly string[], rows: (readonly string[])[] }[]} */
  const tables = [];
  let isInside = false;
  for (const line of section.split("\n")) {
    const cells = line.startsWith("| ") ? readCells(line) : undefined;
    if (cells === undefined) isInside = false;
    else if (!isInside) {
      tables.push({ head: cells, rows: [] });
      isInside = true;
    } else if (!cells.every((cell) => /^-+:?$/.test(cell))) tables.at(-1)?.rows.push(cells);
  }
  return tables;
}

/** @param {string} line */
function readCells(line) {
  return line
    .replace(/^\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** @param {readonly string[]} head */
function isGoals([first = ""]) {
  return /^goal\b/.test(first);
}

/** @param {string} section @returns {readonly Goal[]} */
export function readGoals(section) {
  return readTables(section)
    .filter(({ head }) => isGoals(head))
    .flatMap(({ rows }) => rows)
    .map(([goal = "", ...cells]) => ({
      goal,
      measured: cells.slice(0, -1).join(", "),
      verdict: cells.at(-1) ?? "",
    }));
}

const MEASURED_IN = /\b(?:ms|MB|KB|seconds?)\b|^s$| s$/;
/** A column that was computed from others. */
const DERIVED = /: over /;

/** Times, sizes and rates of a section; without goals, which repeat them. @param {string} section @returns {readonly Cell[]} */
export function readMeasured(section) {
  /** How often a name occurred before: tables for several sizes have the same rows. @type {Map<string, number>} */
  const seen = new Map();
  return readTables(section)
    .filter(({ head }) => !isGoals(head))
    .flatMap(({ head, rows }) =>
      rows.flatMap(([first = "", ...cells]) => {
        const title = `${head[0]}: ${first}`;
        const times = (seen.get(title) ?? 0) + 1;
        seen.set(title, times);
        return cells.flatMap((cell, index) => {
          const column = head[index + 1] ?? "";
          const value = Number(/^-?[\d,]+(?:\.\d+)?/.exec(cell)?.[0].replaceAll(",", ""));
          const isTitled = MEASURED_IN.test(head[0] ?? "") && !DERIVED.test(column);
          const isMeasured = isTitled || MEASURED_IN.test(column) || MEASURED_IN.test(cell);
          return isMeasured && value > 0
            ? [{ name: times === 1 ? title : `${title} (${times})`, column, value }]
            : [];
        });
      }),
    );
}

/** More is better. @param {string} column */
export function isRate(column) {
  return column.includes("a second");
}
