/**
 * Runs before `packages/metier` is packed: setup, papers, and a build with declarations. `--undo` cleans up
 * afterwards.
 */
import { join } from "node:path";
import { layOutPapers, takePapersAway } from "./build/papers.mjs";
import { ROOT, runInForeground, runScript } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

runScript(() => {
  if (process.argv.includes("--undo")) {
    takePapersAway();
    return 0;
  }
  const node = setUp();
  layOutPapers();
  // What is published has the native thread.
  const isRequired = process.platform === "linux" ? "1" : "";
  const env = { ...process.env, METIER_REQUIRE_NATIVE: isRequired };
  return runInForeground(node, [join(ROOT, "scripts/build.mjs"), "--types"], env);
});
