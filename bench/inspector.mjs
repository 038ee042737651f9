/**
 * The inspector's page in Chromium: what a browser loads first, how long it takes to filter 10,000 skills or runs and
 * draw the result, and the longest task while such a list scrolls. An export holds the answers, so no server is
 * measured.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { say } from "../scripts/setup/repository.mjs";
import { machineLine, table } from "./report.mjs";

/**
 * @typedef {{ readonly name: string, readonly rows: number, readonly filterMs: readonly number[], readonly tasks: readonly number[], readonly busyMs: number, readonly frames: number }} ListScore
 * @typedef {{ readonly firstLoad: number, readonly all: number, readonly lists: readonly ListScore[] }} Scores
 */

const PROGRAM = join(import.meta.dirname, "programs", "inspector-cost.mjs");
const MOST_FIRST = 60 * 1024;
const MOST_FILTER = 100;
const MOST_TASK = 50;

/** @returns {string} the section for the document */
export function benchInspector() {
  const machine = machineLine();
  say("drawing 10,000 skills and 10,000 runs in Chromium");
  const { status, stdout } = spawnSync(process.execPath, ["--no-warnings", PROGRAM], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error("the page could not be measured");
  /** @type {Scores} */
  const { firstLoad, all, lists } = JSON.parse(stdout);
  return [
    "## The inspector in a browser: `npm run bench -- inspector`",
    machine,
    "A filter is a text typed into the list's field; its time ends with the frame that shows the result. While scrolling, `longest task` is the longest time in which the browser could not answer.",
    table(
      [
        "list",
        "rows",
        "filter, median",
        "filter, worst",
        "longest task",
        "tasks over 50 ms",
        "script for each frame",
      ],
      lists.map(describeList),
    ),
    table(
      ["goal", "measured", ""],
      [
        judge(`first load at most ${MOST_FIRST / 1024} KB compressed`, firstLoad, MOST_FIRST, kilobytes),
        ...lists.flatMap(({ name, filterMs, tasks }) => [
          judge(
            `${name}: a filter within ${MOST_FILTER} ms`,
            Math.max(...filterMs),
            MOST_FILTER,
            milliseconds,
          ),
          judge(
            `${name}: no task over ${MOST_TASK} ms while scrolling`,
            Math.max(0, ...tasks),
            MOST_TASK,
            milliseconds,
          ),
        ]),
      ],
    ),
    `The whole page with every view is ${kilobytes(all)} compressed.`,
  ].join("\n\n");
}

/** @param {ListScore} score */
function describeList({ name, rows, filterMs, tasks, busyMs, frames }) {
  const sorted = filterMs.toSorted((a, b) => a - b);
  return [
    name,
    `${rows}`,
    milliseconds(sorted[Math.floor(sorted.length / 2)] ?? 0),
    milliseconds(sorted.at(-1) ?? 0),
    milliseconds(Math.max(0, ...tasks)),
    `${tasks.filter((ms) => ms > MOST_TASK).length}`,
    milliseconds(busyMs / Math.max(1, frames)),
  ];
}

/** @param {string} goal @param {number} measured @param {number} most @param {(value: number) => string} show */
function judge(goal, measured, most, show) {
  return [goal, show(measured), measured <= most ? "met" : "missed"];
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(1)} KB`;
}

/** @param {number} ms */
function milliseconds(ms) {
  return `${ms.toFixed(1)} ms`;
}
