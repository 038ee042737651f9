/**
 * `npm run clients [-- <client>…]`: real third-party clients list skills that Metier installed, and call `use_skill`
 * of `metier mcp`, with a fake provider on loopback. They are downloaded once, to `METIER_CLIENTS_DIR` or the user's
 * cache.
 */
import { join } from "node:path";
import { ROOT, runInForeground, runScript } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

runScript(() => {
  const node = setUp();
  return runInForeground(node, [join(ROOT, "scripts", "clients", "try-all.mjs"), ...process.argv.slice(2)]);
});
