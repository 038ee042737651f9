/**
 * `npm run test:packed [group …]`: checks that the package npm would publish works where people use it. Packs it once;
 * then fresh projects install it, compile against it, bundle it, move the bundle to another folder and run it there.
 * Everything happens in a temporary folder; tools come from npm, through its cache. Groups: `node`, `types`,
 * `esbuild`, `webpack`, `vite`, `rollup`, `next`, `bun`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryBun } from "./packed/bun.mjs";
import { BUNDLERS, tryBundler } from "./packed/bundles.mjs";
import { tryNext } from "./packed/next.mjs";
import { tryNode } from "./packed/node-projects.mjs";
import { pack } from "./packed/toolbox.mjs";
import { tryTypes } from "./packed/types.mjs";
import { runScript, SetUpError, say } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

/** @typedef {import("./packed/toolbox.mjs").Workshop} Workshop */
/** @typedef {{ what: string, problem?: string | undefined, ms: number }} Row */

/** @type {Record<string, (workshop: Workshop) => Iterable<Row>>} */
const GROUPS = {
  node: tryNode,
  types: tryTypes,
  ...Object.fromEntries(
    Object.keys(BUNDLERS).map((name) => [
      name,
      (/** @type {Workshop} */ workshop) => tryBundler(name, workshop),
    ]),
  ),
  next: tryNext,
  bun: tryBun,
};

runScript(() => {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => GROUPS[name] === undefined);
  if (unknown.length > 0)
    throw new SetUpError(`Unknown group ${unknown.join(", ")}. Use ${Object.keys(GROUPS).join(", ")}.`);
  setUp();
  const folder = mkdtempSync(join(tmpdir(), "metier-packed-"));
  /** @type {Row[]} */
  const rows = [];
  try {
    say("packing");
    const workshop = pack(folder);
    for (const name of asked.length > 0 ? asked : Object.keys(GROUPS)) {
      for (const row of GROUPS[name]?.(workshop) ?? []) {
        rows.push(row);
        process.stdout.write(`${lineOf(row)}\n`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const failed = rows.filter(({ problem }) => problem !== undefined).length;
  process.stdout.write(`${rows.length - failed} passed, ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
});

/** @param {Row} row */
function lineOf({ what, problem, ms }) {
  const said = problem === undefined ? "ok" : `FAILED\n${problem.replace(/^/gm, "    ")}`;
  return `${what.padEnd(58)} ${(ms / 1000).toFixed(1).padStart(6)} s  ${said}`;
}
