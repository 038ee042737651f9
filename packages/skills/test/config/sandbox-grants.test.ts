import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "smol-toml";
import { expect, test } from "vitest";
import { createWorld } from "../../../../test/support/config-world.ts";

const LOOSE = { network: ["*"], read: ["~/data"], write: ["~/data/out"] };

test("what is granted to skills is read from the user's file, with absolute paths", async () => {
  const world = createWorld({ user: stringify({ sandbox: LOOSE, skills: { pdf: { sandbox: LOOSE } } }) });
  const { config, diagnostics } = await world.load();
  const reach = { network: ["*"], read: [join(world.home, "data")], write: [join(world.home, "data/out")] };
  expect(config.sandbox).toMatchObject(reach);
  expect(config.skills.settings.pdf?.sandbox).toEqual(reach);
  expect(diagnostics).toEqual([]);
});

test("a project file grants nothing, to all skills or to one, until it is granted itself", async () => {
  const files = { project: stringify({ sandbox: LOOSE, skills: { pdf: { sandbox: LOOSE } } }) };
  const world = createWorld(files);
  const { config, diagnostics } = await world.load();
  expect(config.sandbox).toMatchObject({ network: [], read: [], write: [] });
  expect(config.skills.settings.pdf?.sandbox).toBeUndefined();
  expect(diagnostics.map(({ code }) => code)).toEqual(Array(6).fill("config.not-granted"));
});

test("the policy bounds the grants of single skills too, and reading bounds writing", async () => {
  const world = createWorld({
    user: stringify({ sandbox: LOOSE, skills: { pdf: { sandbox: LOOSE }, mail: { enabled: true } } }),
  });
  const inside = join(world.home, "data/out/public");
  mkdirSync(inside, { recursive: true });
  const policy = { sandbox: { network: ["*.example.com"], read: [inside] } };
  const held = createWorld({
    user: stringify({
      sandbox: { ...LOOSE, read: [join(world.home, "data")], write: [inside, world.project] },
      skills: { pdf: { sandbox: { ...LOOSE, write: [join(world.home, "data/out"), world.root] } } },
    }),
    policy: stringify(policy),
  });
  const { config, diagnostics } = await held.load();
  expect(config.sandbox).toMatchObject({ network: ["*.example.com"], read: [inside], write: [inside] });
  expect(config.skills.settings.pdf?.sandbox).toEqual({
    network: ["*.example.com"],
    read: [],
    write: [inside],
  });
  const dropped = diagnostics.filter(({ code }) => code === "config.policy-drops-path");
  expect(dropped.map(({ path }) => path).sort()).toEqual([join(held.home, "data"), world.project].sort());
});
