/**
 * A process that is killed between the lock and the links of many skills: the lock says what is to be there, and the next
 * `metier install` puts it there. It kills itself at a moment that no clock could find.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, readdirSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { COMPILED_CODE } from "../../../../test/support/compiled-code.ts";
import { expectWhole } from "../../../../test/support/install-processes.ts";
import {
  createInstallWorld,
  type InstallWorld,
  resultOf,
  skillFiles,
} from "../../../../test/support/installing.ts";
import { ROOT } from "../../../../test/support/repository.ts";

const COUNT = 150;
const NAMES = Array.from({ length: COUNT }, (_, number) => `skill-${number}`);
const FILES = Object.assign({}, ...NAMES.map((name) => skillFiles(`skills/${name}`, name)));
const AGENTS = ["claude-code", "codex"];
const PLACES = [".claude/skills", ".agents/skills"];

/** A module that a process loads first. It dies when it replaces this file: right before, or right after. */
function dieAt(world: InstallWorld, file: string, when: "before" | "after"): string {
  const module = join(world.root, `die-${when}.mjs`);
  const die = 'process.kill(process.pid, "SIGKILL");';
  writeFileSync(
    module,
    `import fs from "node:fs";
     import { syncBuiltinESMExports } from "node:module";
     const { renameSync } = fs;
     fs.renameSync = (from, to) => {
       const isIt = to === ${JSON.stringify(file)};
       if (isIt && ${when === "before"}) ${die}
       renameSync(from, to);
       if (isIt) ${die}
     };
     syncBuiltinESMExports();`,
  );
  return pathToFileURL(module).href;
}

async function installAndDie(world: InstallWorld, source: string, module: string): Promise<void> {
  const main = join(ROOT, "packages/cli/src/main.ts");
  const agents = AGENTS.flatMap((agent) => ["--agent", agent]);
  const args = ["install", source, "--all", "--yes", ...agents, "--home", world.home];
  const child = spawn(process.execPath, ["--import", module, main, ...args], {
    cwd: world.project,
    env: { ...COMPILED_CODE, PATH: process.env.PATH, NODE_NO_WARNINGS: "1" },
    stdio: "ignore",
  });
  const [, signal] = await once(child, "exit");
  expect(signal).toBe("SIGKILL");
}

/** Those there are. */
function linksOf({ home }: InstallWorld): readonly string[] {
  return PLACES.flatMap((place) => {
    const folder = join(home, place);
    const isThere = lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
    return isThere ? readdirSync(folder).map((name) => join(folder, name)) : [];
  });
}

test.each([
  ["before the lock is there", "metier.lock", "before", { entries: 0, most: 0 }],
  ["once the lock is there", "metier.lock", "after", { entries: COUNT, most: 0 }],
  ["before the config names them", "config.toml", "before", { entries: COUNT, most: 2 * COUNT }],
  ["once the config names them", "config.toml", "after", { entries: COUNT, most: 2 * COUNT }],
] as const)(
  "a process killed %s leaves nothing that the next one cannot repair",
  async (_, name, when, then) => {
    const world = createInstallWorld();
    const repository = world.repository(FILES);
    const file = join(world.places.base, name);
    await installAndDie(world, repository.url, dieAt(world, file, when));
    expect(world.lock().skills).toHaveLength(then.entries);
    expectWhole(world);
    expect(linksOf(world).length).toBeLessThanOrEqual(then.most);
    const before = linksOf(world).map((link) => [link, readlinkSync(link)]);

    const again = then.entries === 0 ? { source: repository.url, skills: ["*"], agents: AGENTS } : {};
    const metier = await world.metier();
    expect(resultOf(await metier.install(again)).diagnostics).toEqual([]);
    expect(world.lock().skills).toHaveLength(COUNT);
    expectWhole(world);
    const folders = new Map(world.lock().skills.map((entry) => [entry.name, metier.require(entry.name)]));
    for (const place of PLACES) {
      for (const one of NAMES)
        expect(realpathSync(join(world.home, place, one))).toBe(
          realpathSync(folders.get(one)?.directory ?? ""),
        );
    }
    for (const [link = "", target] of before) expect(readlinkSync(link)).toBe(target);
    expect((await metier.verify()).ok).toBe(true);
    // What was fetched goes when the next one fetches.
    resultOf(await metier.install({ source: repository.url, skills: ["skill-0"], force: true }));
    expect(world.quarantined()).toEqual([]);
  },
);
