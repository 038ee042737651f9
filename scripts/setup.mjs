/** `npm run setup`: sets up the clone and says which sandbox is available. */
import { runScript, say } from "./setup/repository.mjs";
import { sandboxLine } from "./setup/sandbox.mjs";
import { setUp } from "./setup/set-up.mjs";

runScript(() => {
  setUp();
  say(sandboxLine());
  return 0;
});
