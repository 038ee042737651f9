import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { holdPlaces } from "../../src/sandbox/bubblewrap/held-places.ts";

test("holds only what is not there, and leaves nothing behind", () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "empty"));
  mkdirSync(join(root, "full"));
  writeFileSync(join(root, "full", "file"), "mine");
  const names = ["empty", "full", "new", ".mcp.json"];
  const held = holdPlaces(names.map((name) => join(root, name)));
  expect(held.folders).toEqual([join(root, "new"), join(root, ".mcp.json")]);
  expect(readdirSync(root).sort()).toEqual([".mcp.json", "empty", "full", "new"]);
  held.release();
  expect(readdirSync(root).sort()).toEqual(["empty", "full"]);
});

test("shares a place, which the last of its users removes", () => {
  const place = join(temporaryFolder(), ".claude");
  const first = holdPlaces([place]);
  const second = holdPlaces([place]);
  expect(second.folders).toEqual([place]);
  first.release();
  expect(readdirSync(place)).toHaveLength(1);
  second.release();
  expect(readdirSync(join(place, ".."))).toEqual([]);
});

test("takes over a place that a dead process left", () => {
  const place = join(temporaryFolder(), ".claude");
  mkdirSync(place);
  writeFileSync(join(place, "metier-hold-999999999-x"), "");
  holdPlaces([place]).release();
  expect(readdirSync(join(place, ".."))).toEqual([]);
});

test("keeps what the user put there meanwhile", () => {
  const place = join(temporaryFolder(), ".vscode");
  const held = holdPlaces([place]);
  writeFileSync(join(place, "settings.json"), "mine");
  held.release();
  expect(readdirSync(place)).toEqual(["settings.json"]);
});

test("holds the place of git's common folder with a file that means the repository itself", () => {
  const root = temporaryFolder();
  const place = join(root, "commondir");
  const first = holdPlaces([place]);
  const second = holdPlaces([place]);
  expect(readFileSync(place, "utf8").trim()).toBe("././.");
  first.release();
  expect(readdirSync(root)).toEqual(["commondir"]);
  second.release();
  expect(readdirSync(root)).toEqual([]);
  writeFileSync(place, "../other");
  holdPlaces([place]).release();
  expect(readFileSync(place, "utf8")).toBe("../other");
});
