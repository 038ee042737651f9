/** The declarations that the library's public surface needs, and no others: what is inside stays inside. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT, runQuietly } from "../setup/repository.mjs";

const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");

/** @param {string} folder where `index.d.ts` and all that it names are put */
export function writeDeclarations(folder) {
  const all = mkdtempSync(join(tmpdir(), "metier-declarations-"));
  try {
    const result = runQuietly(process.execPath, [TSC, "-p", "tsconfig.build.json", "--outDir", all]);
    if (!result.ok) throw new Error(`The declarations could not be written:\n${result.output}`);
    for (const path of reachableFrom(all, "index.d.ts")) cpSync(join(all, path), join(folder, path));
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {string} entry @returns {ReadonlySet<string>} */
function reachableFrom(folder, entry) {
  const found = new Set([entry]);
  for (const path of found) {
    const text = readFileSync(join(folder, path), "utf8");
    for (const [, name = ""] of text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      if (name.startsWith(".")) found.add(join(dirname(path), name).replace(/\.ts$/, ".d.ts"));
      else if (!name.startsWith("node:"))
        throw new Error(`${path} shows \`${name}\`, which users do not have, in a public type.`);
    }
  }
  return found;
}
