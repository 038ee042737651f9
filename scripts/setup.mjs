/** `npm run setup`: makes the clone ready and says which sandbox there is. */
import { runScript, say } from "./setup/repository.mjs";
import { sandboxLine } from "./setup/sandbox.mjs";
import { setUp } from "./setup/set-up.mjs";

runScript(() => {
  setUp();
  say(sandboxLine());
  return 0;
});
