/**
 * Sets up a fresh clone, and does nothing slow on one that is ready: packages, the pinned Node, the sandbox, `dist/`.
 * Needs only Node 20 and npm; prints one line per step.
 */
import { buildIfStale } from "./fresh-build.mjs";
import { installPackages } from "./packages.mjs";
import { preparePinnedNode } from "./pinned-node.mjs";
import { ROOT } from "./repository.mjs";
import { installSandbox } from "./sandbox.mjs";

/** @returns {string} the Node to run everything else with */
export function setUp() {
  installPackages(ROOT, "packages");
  const node = preparePinnedNode();
  installSandbox();
  buildIfStale(node);
  return node;
}
