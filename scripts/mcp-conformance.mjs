/**
 * `npm run mcp-conformance`: runs the official MCP conformance suite against `metier mcp --http` and `metier serve`, in both
 * versions of the protocol and with the Skills extension. Fetches the suite first; skipped without a registry.
 */
import { join } from "node:path";
import { ROOT, runInForeground, runScript } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

runScript(() => runInForeground(setUp(), [join(ROOT, "scripts", "mcp", "run-conformance.mjs")]));
