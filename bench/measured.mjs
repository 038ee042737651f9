/** Runs a bench program in its own process and folder, and formats its numbers. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What the program prints, as JSON. @param {string} name of a file in `programs` @param {string[]} given besides its folder @returns {unknown} */
export function measureIn(name, ...given) {
  const program = join(import.meta.dirname, "programs", `${name}.mjs`);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `metier-bench-${name}-`)));
  chmodSync(folder, 0o755); // If root runs the bench, a Postgres in it belongs to another user.
  try {
    const { status, stdout } = spawnSync(process.execPath, [program, folder, ...given], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (status !== 0) throw new Error(`\`${program}\` ended with exit code ${status}.`);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** p50 and p99. @param {readonly number[]} numbers @param {number} digits */
export function times(numbers, digits) {
  return [quantile(numbers, 0.5).toFixed(digits), quantile(numbers, 0.99).toFixed(digits)];
}

/** @param {string} name @param {number} is @param {number} most both in milliseconds */
export function goal(name, is, most) {
  return [name, `${is.toFixed(1)} ms`, is <= most ? "met" : "missed"];
}

/** @param {readonly number[]} numbers @param {number} part */
export function quantile(numbers, part) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
