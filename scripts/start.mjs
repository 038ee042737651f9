/** `npm start`: sets up the clone, says which sandbox is available, and shows Metier on the bundled skills. */
import { join } from "node:path";
import { ROOT, runInForeground, runScript, say } from "./setup/repository.mjs";
import { sandboxLine } from "./setup/sandbox.mjs";
import { setUp } from "./setup/set-up.mjs";

runScript(() => {
  const node = setUp();
  say(sandboxLine());
  return runInForeground(node, [
    join(ROOT, "packages/metier/bin/metier.js"),
    "tour",
    ...process.argv.slice(2),
  ]);
});
