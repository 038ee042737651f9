/** Prints the results as one line of JSON. The first argument is the folder with the skill `expense-report`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryMetier } from "./try-metier.mjs";

/** @param {string} skills */
async function main(skills) {
  const home = mkdtempSync(join(tmpdir(), "metier-packed-home-"));
  try {
    process.stdout.write(`${JSON.stringify(await tryMetier(skills, home))}\n`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

void main(process.argv[2] ?? "skills");
