import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { onCommandLine } from "@metier/base/text";
import { expect, test } from "vitest";
import { createWorld, skill } from "../../../../test/support/world.ts";

/** Skills of one root share one decision about trust only where nothing can make them differ. */
const FILES = Object.fromEntries(
  ["a", "b", "group/c"].map((path) => [
    `project/.claude/skills/${path}/SKILL.md`,
    skill(path.replace("group/", "")),
  ]),
);

function levels(skills: readonly { readonly name: string; readonly trust: { readonly level: string } }[]) {
  return Object.fromEntries(skills.map(({ name, trust }) => [name, trust.level]));
}

test("a trusted path below a root trusts its own skills and no others", async () => {
  const world = createWorld();
  world.write(FILES);
  const trustedPaths = [join(world.project, ".claude/skills/group")];
  const { catalog } = await world.metier({ trust: "grants", trustedPaths });
  expect(levels(catalog.all)).toEqual({ a: "untrusted", b: "untrusted", c: "trusted" });
});

test("a refusal below a trusted root holds for its own skills and no others", async () => {
  const world = createWorld();
  world.write(FILES);
  expect((await world.cli("trust", world.project)).code).toBe(0);
  expect(levels((await world.metier({ trust: "grants" })).catalog.all)).toEqual({
    a: "trusted",
    b: "trusted",
    c: "trusted",
  });
  const path = join(world.project, ".claude/skills/group");
  const grants = JSON.parse(readFileSync(join(world.home, ".metier/grants.json"), "utf8"));
  const refusal = { path, decision: "denied", decidedAt: grants.folders[0].decidedAt };
  grants.folders.push(refusal);
  world.write({ "home/.metier/grants.json": JSON.stringify(grants) });
  expect(levels((await world.metier({ trust: "grants" })).catalog.all)).toEqual({
    a: "trusted",
    b: "trusted",
    c: "untrusted",
  });
});

test("a grant for one skill trusts that skill and no other of its root", async () => {
  const world = createWorld();
  world.write(FILES);
  expect((await world.cli("trust", "b")).code).toBe(0);
  const { catalog } = await world.metier({ trust: "grants" });
  expect(levels(catalog.all)).toEqual({ a: "untrusted", b: "trusted", c: "untrusted" });
});

test("a link from a trusted root into one that is not trusted does not share its trust", async () => {
  const world = createWorld();
  world.write({ ...FILES, "custom/d/SKILL.md": skill("d") });
  symlinkSync(join(world.root, "custom/d"), join(world.project, ".claude/skills/d"));
  expect((await world.cli("trust", world.project)).code).toBe(0);
  const { catalog } = await world.metier({ trust: "grants", paths: [join(world.root, "custom")] });
  expect(levels(catalog.all)).toEqual({ a: "trusted", b: "trusted", c: "trusted", d: "untrusted" });
  expect(catalog.get("d")?.scope).toBe("project");
});

test("the reason why a skill of a custom path is untrusted names that skill", async () => {
  const world = createWorld();
  world.write({ "custom/x/SKILL.md": skill("x"), "custom/y/SKILL.md": skill("y") });
  const path = join(world.root, "custom");
  const { catalog } = await onCommandLine(() => world.metier({ paths: [path] }));
  expect(catalog.get("x")?.trust.reason).toContain(`\`metier trust x --path ${path}\``);
  expect(catalog.get("y")?.trust.reason).toContain(`\`metier trust y --path ${path}\``);
});
