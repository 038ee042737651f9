/** The declarations that the library's public surface needs, and no others: what is inside stays inside. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT, runQuietly } from "../setup/repository.mjs";
import { LIBRARY_ENTRIES } from "./library-entries.mjs";

const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");

/** @param {string} folder where the declarations of the entries, and all that they name, are put */
export function writeDeclarations(folder) {
  const all = mkdtempSync(join(tmpdir(), "metier-declarations-"));
  try {
    const result = runQuietly(process.execPath, [TSC, "-p", "tsconfig.build.json", "--outDir", all]);
    if (!result.ok) throw new Error(`The declarations could not be written:\n${result.output}`);
    const entries = Object.values(LIBRARY_ENTRIES).map((source) =>
      source.replace(/^src\//, "").replace(/\.ts$/, ".d.ts"),
    );
    for (const path of reachableFrom(all, entries)) cpSync(join(all, path), join(folder, path));
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {readonly string[]} entries @returns {ReadonlySet<string>} */
function reachableFrom(folder, entries) {
  const found = new Set(entries);
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
