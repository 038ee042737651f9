/** Markdown tables, and their place in `docs/benchmarks.md`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { ROOT } from "../scripts/setup/repository.mjs";

const FILE = join(ROOT, "docs", "benchmarks.md");
const HEADER = `# Benchmarks

Measured side by side in one run and read as ratios: the same program takes another time on another machine, and on a
busy one. Each table is written by the command above it.
`;

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
export function table(head, rows) {
  const lines = [head, head.map((_, index) => (index === 0 ? "---" : "--:")), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** When and on which machine, and how busy it was. */
export function machineLine() {
  const date = new Date().toISOString().slice(0, 10);
  const load = loadavg()[0]?.toFixed(1);
  return `${date}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, load ${load} at the start.`;
}

/** The recorded section of a bench. @param {string} name @returns {string | undefined} */
export function readSection(name) {
  const text = existsSync(FILE) ? readFileSync(FILE, "utf8") : "";
  const [, rest] = text.split(`<!-- bench ${name} -->`);
  return rest?.split(`<!-- end of bench ${name} -->`)[0];
}

/**
 * Puts a bench's section into the document, replacing its last one.
 *
 * @param {string} name
 * @param {string} body
 */
export function writeSection(name, body) {
  const [start, end] = [`<!-- bench ${name} -->`, `<!-- end of bench ${name} -->`];
  const section = `${start}\n\n${body.trim()}\n\n${end}`;
  const text = existsSync(FILE) ? readFileSync(FILE, "utf8") : HEADER;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  const before = from < 0 ? `${text.trimEnd()}\n\n` : text.slice(0, from);
  const after = to < 0 ? "\n" : text.slice(to + end.length);
  writeFileSync(FILE, before + section + after);
}
