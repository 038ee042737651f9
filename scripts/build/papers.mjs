/**
 * Files from the root of the clone that belong in the published package: papers, docs and examples. They are in the
 * package only while it is packed.
 */
import { copyFileSync, cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../setup/repository.mjs";

const PACKAGE = join(ROOT, "packages/metier");
const PAPERS = ["CHANGELOG.md", "DEPENDENCIES.md", "LICENSE", "SECURITY.md"];
/** The same paths as in the clone, so that links between them work. */
const FOLDERS = ["docs/explanation", "docs/how-to", "docs/migrate", "docs/reference", "examples"];
/** Removed afterwards. */
const LAID_OUT = [...PAPERS, "docs", "examples"];

export function layOutPapers() {
  for (const name of PAPERS) copyFileSync(join(ROOT, name), join(PACKAGE, name));
  for (const name of FOLDERS) {
    const isOurs = (/** @type {string} */ path) => !/node_modules|\/test(?:\/|$)/.test(path);
    cpSync(join(ROOT, name), join(PACKAGE, name), {
      recursive: true,
      filter: (path) => isOurs(path.slice(ROOT.length)),
    });
  }
}

export function takePapersAway() {
  for (const name of LAID_OUT) rmSync(join(PACKAGE, name), { recursive: true, force: true });
}
