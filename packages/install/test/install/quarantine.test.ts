import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { openQuarantine } from "../../src/install/fetch-source.ts";

function places() {
  return metierPlaces(temporaryFolder());
}

test("a quarantine is closed to others, gives empty folders and goes with everything in it", () => {
  const where = places();
  const quarantine = openQuarantine(where);
  const folders = [quarantine.makeFolder(), quarantine.makeFolder()];
  expect(new Set(folders).size).toBe(2);
  expect(statSync(quarantine.folder).mode & 0o777).toBe(0o700);
  const closed = join(folders[0] ?? "", "closed");
  mkdirSync(closed);
  writeFileSync(join(closed, "file"), "text");
  chmodSync(closed, 0o000);
  quarantine.close();
  expect(readdirSync(where.quarantine)).toEqual([]);
});

test("what a dead process left is removed, and what a living one or another machine uses stays", () => {
  const where = places();
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const living = openQuarantine(where);
  const mark = living.folder.split("-").at(-2) ?? "";
  const names = {
    dead: `${pid}-${mark}-0000000000000000`,
    foreign: `${pid}-00000000-0000000000000000`,
    old: `${process.pid}-${mark}-1111111111111111`,
  };
  for (const name of Object.values(names)) mkdirSync(join(where.quarantine, name));
  const longAgo = new Date(Date.now() - 25 * 60 * 60_000);
  utimesSync(join(where.quarantine, names.old), longAgo, longAgo);
  const second = openQuarantine(where);
  const stays = (name: string): boolean => existsSync(join(where.quarantine, name));
  expect([stays(names.dead), stays(names.foreign), stays(names.old)]).toEqual([false, true, false]);
  expect([existsSync(living.folder), existsSync(second.folder)]).toEqual([true, true]);
});
