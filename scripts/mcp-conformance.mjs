/**
 * `npm run mcp-conformance`: the official conformance suite for MCP against `metier mcp --http`, in both versions of the
 * protocol and with the Skills extension. The suite is fetched for it; without a registry the task is skipped.
 */
import { join } from "node:path";
import { ROOT, runInForeground, runScript } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

runScript(() => runInForeground(setUp(), [join(ROOT, "scripts", "mcp", "run-conformance.mjs")]));
