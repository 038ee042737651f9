/** Importing the library loads its own modules and does nothing else. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { LIBRARY_ENTRIES } from "../../scripts/build/library-entries.mjs";
import { ROOT } from "../support/repository.ts";
import { temporaryFolder } from "../support/temporary.ts";

interface ImportReport {
  readonly modules: readonly string[];
  readonly listeners: readonly string[];
  readonly resources: readonly string[];
  readonly globals: readonly string[];
  readonly environment: boolean;
}

/** Imports the library in a process of its own and says what that left behind. */
const probe = (entry: string): string => `
import { registerHooks } from "node:module";
// Importing these opens the standard streams and sets up fetch: Node's doing, not ours.
import "node:util";
import "node:http";
const modules = [];
registerHooks({ load: (url, context, next) => { modules.push(url); return next(url, context); } });
const globals = new Set(Reflect.ownKeys(globalThis));
const environment = JSON.stringify(process.env);
const listeners = new Set(process.eventNames());
const resources = process.getActiveResourcesInfo();
await import(${JSON.stringify(pathToFileURL(join(ROOT, entry)).href)});
const report = JSON.stringify({
  modules,
  listeners: process.eventNames().filter((name) => !listeners.has(name)),
  resources: process.getActiveResourcesInfo().slice(resources.length),
  globals: Reflect.ownKeys(globalThis).filter((name) => !globals.has(name)).map(String),
  environment: JSON.stringify(process.env) === environment,
});
process.stdout.write(report);
`;

/** What `metier/mcp` is for is in a package, so it is loaded with it. */
const ENTRIES = Object.values(LIBRARY_ENTRIES).filter((entry) => entry !== LIBRARY_ENTRIES.mcp);

test.each(ENTRIES)("importing %s loads no package and no command line, and has no side effect", (entry) => {
  const folder = temporaryFolder();
  const home = join(folder, "home");
  const cwd = join(folder, "cwd");
  mkdirSync(home);
  mkdirSync(cwd);
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", probe(entry)],
    {
      cwd,
      env: { ...process.env, HOME: home },
      encoding: "utf8",
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const report = JSON.parse(stdout) as ImportReport;
  const packages = pathToFileURL(join(ROOT, "packages")).href;
  const own = report.modules.filter(
    (url) => url.startsWith(`${packages}/`) && !url.startsWith(`${packages}/cli/`),
  );
  expect(own).toContain(pathToFileURL(join(ROOT, entry)).href);
  expect(report.modules.filter((url) => !own.includes(url) && !url.startsWith("node:"))).toEqual([]);
  expect({ ...report, modules: [] }).toEqual({
    modules: [],
    listeners: [],
    resources: [],
    globals: [],
    environment: true,
  });
  expect([...readdirSync(home), ...readdirSync(cwd)]).toEqual([]);
});
