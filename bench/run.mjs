/**
 * `npm run bench -- <name>`: runs one bench, prints its tables and writes them to `docs/benchmarks.md`. Without a
 * name, runs all of them and writes one page with every goal. `--against <git ref>`: see `against.mjs`.
 */
import { runScript, say } from "../scripts/setup/repository.mjs";
import { setUp } from "../scripts/setup/set-up.mjs";
import { compareWith } from "./against.mjs";
import { benchCapability } from "./capability.mjs";
import { benchEngine } from "./engine.mjs";
import { benchFind } from "./find.mjs";
import { benchInspector } from "./inspector.mjs";
import { benchInstall } from "./install.mjs";
import { benchList } from "./list.mjs";
import { benchMcp } from "./mcp.mjs";
import { goalPage } from "./page.mjs";
import { readSection, writeSection } from "./report.mjs";
import { benchRun } from "./run-loop.mjs";
import { benchSandbox } from "./sandbox.mjs";
import { benchScan } from "./scan.mjs";
import { benchService } from "./service.mjs";
import { benchServiceOnPostgres } from "./service-postgres.mjs";
import { benchSimulate } from "./simulate.mjs";

/**
 * Those that delete many files come last: without a journal, `ext4` then takes up to 30 times as long to create one, which
 * others would measure.
 *
 * @type {Readonly<Record<string, () => string>>}
 */
const BENCHES = {
  run: benchRun,
  sandbox: benchSandbox,
  capability: benchCapability,
  mcp: benchMcp,
  engine: benchEngine,
  service: benchService,
  "service --postgres": benchServiceOnPostgres,
  simulate: benchSimulate,
  inspector: benchInspector,
  install: benchInstall,
  scan: benchScan,
  find: benchFind,
  list: benchList,
};

const { names, ref, isPrinted } = readArguments(process.argv.slice(2));
const unknown = names.find((name) => BENCHES[name] === undefined);
runScript(() => {
  if (unknown !== undefined) {
    say(`no bench is called \`${unknown}\`; there are: ${Object.keys(BENCHES).join(", ")}`);
    return 2;
  }
  if (ref !== undefined) {
    setUp();
    return compareWith(names, ref);
  }
  if (!isPrinted) setUp();
  const sections = names.map((name) => measure(name, isPrinted));
  process.stdout.write(names.length > 1 ? `${goalPage(sections)}\n` : `${sections[0]?.now}\n`);
  return 0;
});

/** Without a name: all. `--print` records nothing. @param {readonly string[]} given */
function readArguments(given) {
  const at = given.indexOf("--against");
  const ref = at < 0 ? undefined : (given[at + 1] ?? "HEAD");
  const words = given.filter(
    (word, index) => word !== "--print" && (at < 0 || (index !== at && index !== at + 1)),
  );
  const names = words.length === 0 ? Object.keys(BENCHES) : [words.join(" ")];
  return { names, ref, isPrinted: given.includes("--print") };
}

/** @param {string} name @param {boolean} isPrinted */
function measure(name, isPrinted) {
  if (!isPrinted) say(`bench ${name}`);
  const title = name.replace(" --", " on ");
  const before = readSection(title);
  const now = BENCHES[name]?.() ?? "";
  if (!isPrinted) writeSection(title, now);
  return { bench: name, now, before };
}
