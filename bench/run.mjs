/** `npm run bench -- <name>`: runs one bench, prints its tables and writes them to `docs/benchmarks.md`. */
import { say } from "../scripts/setup/repository.mjs";
import { setUp } from "../scripts/setup/set-up.mjs";
import { benchCapability } from "./capability.mjs";
import { benchEngine } from "./engine.mjs";
import { benchFind } from "./find.mjs";
import { benchInspector } from "./inspector.mjs";
import { benchInstall } from "./install.mjs";
import { benchList } from "./list.mjs";
import { benchMcp } from "./mcp.mjs";
import { writeSection } from "./report.mjs";
import { benchRun } from "./run-loop.mjs";
import { benchSandbox } from "./sandbox.mjs";
import { benchScan } from "./scan.mjs";
import { benchService } from "./service.mjs";
import { benchServiceOnPostgres } from "./service-postgres.mjs";
import { benchSimulate } from "./simulate.mjs";

/** @type {Readonly<Record<string, () => string>>} */
const BENCHES = {
  capability: benchCapability,
  engine: benchEngine,
  find: benchFind,
  inspector: benchInspector,
  install: benchInstall,
  list: benchList,
  mcp: benchMcp,
  run: benchRun,
  sandbox: benchSandbox,
  scan: benchScan,
  service: benchService,
  "service --postgres": benchServiceOnPostgres,
  simulate: benchSimulate,
};

const name = process.argv.slice(2).join(" ");
const bench = BENCHES[name];
if (bench) {
  setUp();
  const section = bench();
  writeSection(name.replace(" --", " on "), section);
  process.stdout.write(`${section}\n`);
} else {
  say(`which bench? \`npm run bench -- <name>\` with one of: ${Object.keys(BENCHES).join(", ")}`);
  process.exitCode = 2;
}
