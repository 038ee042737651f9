/** `npm run bench`: runs all benches and writes one page with every goal next to its last recorded value. */
import { table } from "./report.mjs";
import { readGoals } from "./tables.mjs";

/** @typedef {{ readonly bench: string, readonly now: string, readonly before: string | undefined }} Measured sections */

/** @param {readonly Measured[]} sections @returns {string} */
export function goalPage(sections) {
  const rows = sections.flatMap(({ bench, now, before }) => {
    const recorded = new Map(readGoals(before ?? "").map(({ goal, measured }) => [goal, measured]));
    return readGoals(now).map(({ goal, measured, verdict }) => [
      `${bench}: ${goal}`,
      measured,
      verdict,
      recorded.get(goal) ?? "not recorded",
    ]);
  });
  const missed = rows.filter(([, , verdict]) => verdict !== "met").length;
  const summary =
    missed === 0 ? `All ${rows.length} goals are met.` : `${missed} of ${rows.length} goals are missed.`;
  return `${table(["goal", "measured", "", "recorded before"], rows)}\n\n${summary}`;
}
