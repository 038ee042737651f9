/**
 * Makes a fresh clone ready, and a ready one ready again in no time: packages, the pinned Node, the sandbox,
 * `dist/`. Needs nothing but Node 20 and npm; says one line for each thing it does.
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
