/** `npm run docs:sync`: writes the reference pages. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { referencePages } from "./docs/reference-pages.mjs";
import { ROOT } from "./setup/repository.mjs";

for (const [path, text] of Object.entries(await referencePages())) {
  const file = join(ROOT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
