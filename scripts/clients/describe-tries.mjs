/** The table of client results, followed by the details of each failure. */

/** @typedef {{ readonly name: string, readonly outcome: import("./try-apart.mjs").Outcome }} Try */

const HEAD = ["client", "skill in home", "skill in project", "opened", "use_skill by MCP", "time"];

/** @param {readonly Try[]} tries */
export function describeTries(tries) {
  const rows = [HEAD, ...tries.map(describeRow)];
  // A row without results has one cell of any length in place of theirs.
  const widths = HEAD.map((_, column) => {
    const fitting = rows.filter((row) => column === 0 || row.length === HEAD.length);
    return Math.max(...fitting.map((row) => row[column]?.length ?? 0));
  });
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  const table = lines.map((line) => line.trimEnd()).join("\n");
  const faults = tries.flatMap(({ name, outcome: { fault } }) =>
    fault ? [`${name} failed:\n${fault}`] : [],
  );
  return `${[table, ...faults].join("\n\n")}\n`;
}

/** @param {Try} tried @returns {readonly string[]} */
function describeRow({ name, outcome: { skipped, result } }) {
  if (skipped !== undefined) return [name, `skipped: ${skipped.trim().split("\n")[0]}`];
  if (result === undefined) return [name, "FAILED"];
  const { home, project, opened, mcp, ms } = result;
  const listed = (/** @type {boolean} */ is) => (is ? "listed" : "NOT LISTED");
  const done = (/** @type {boolean} */ is) => (is ? "yes" : "NO");
  const called = mcp === undefined ? "speaks no MCP" : done(mcp);
  return [name, listed(home), listed(project), done(opened), called, `${(ms / 1000).toFixed(1)} s`];
}
