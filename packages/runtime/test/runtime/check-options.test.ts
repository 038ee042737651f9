import { join } from "node:path";
import { UsageError } from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import { createMetier } from "../../src/runtime/create-metier.ts";
import type { MetierOptions } from "../../src/runtime/metier-options.ts";

/** What a JavaScript program might pass. */
function create(options: unknown): Promise<unknown> {
  return createMetier(options as MetierOptions);
}

describe("the options of createMetier", () => {
  test.each<readonly [options: object, message: string, hint: string | undefined]>([
    [{ autodiscover: true }, "`createMetier` has no option `autodiscover`.", "Did you mean `autoDiscover`?"],
    [{ trustPaths: [] }, "`createMetier` has no option `trustPaths`.", "Did you mean `trustedPaths`?"],
    [{ trust: "grant" }, "The option `trust` is `grant`; it must be one of `vouch`, `grants`.", undefined],
    [
      { profile: "Strict" },
      "The option `profile` is `Strict`; it must be one of `strict`, `standard`, `lenient`.",
      undefined,
    ],
    [
      { preset: "hermes" },
      "The option `preset` is `hermes`; it must be one of `ash`, `agent-harness`, `mamba`, `weakincentives`.",
      undefined,
    ],
    [
      { conflicts: true },
      "The option `conflicts` is a boolean; it must be one of `throw`, `report`.",
      undefined,
    ],
    [
      { bundled: "yes" },
      "The option `bundled` is `yes`; it must be one of `true`, `false`, `unless-disabled`.",
      undefined,
    ],
    [{ autoDiscover: "no" }, "The option `autoDiscover` is `no`; it must be `true` or `false`.", undefined],
    [{ paths: "skills" }, "The option `paths` is `skills`; it must be a list of strings.", undefined],
    [{ deny: ["a", 1] }, "The option `deny` is a list; it must be a list of strings.", undefined],
    [
      { integrations: "org" },
      "The option `integrations` is `org`; it must be a list of folders and objects.",
      undefined,
    ],
    [{ config: null }, "The option `config` is null; it must be an object.", undefined],
    [{ environment: 1 }, "The option `environment` is a number; it must be an object.", undefined],
    [{ home: "" }, "The option `home` is ``; it must be a path.", undefined],
  ])("%j is a usage error that says what is allowed", async (options, message, hint) => {
    const fault = await create(options).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(UsageError);
    expect(fault).toMatchObject({ message });
    expect((fault as UsageError).hint).toBe(hint);
  });

  test("a name that is near to none gets the whole list", async () => {
    await expect(create({ zzzzzzzz: 1 })).rejects.toMatchObject({
      hint: expect.stringMatching(/^Use `models`, .*`cwd`, `home`, .*`environment`\.$/),
    });
  });

  test("a working directory must be a folder", async () => {
    const root = temporaryFolder();
    writeTree(root, { file: "" });
    for (const cwd of [join(root, "nowhere"), join(root, "file"), join(root, "file/below"), "a\0b"]) {
      await expect(create({ cwd })).rejects.toThrow(
        /^The option `cwd` is .*; it must be the path of an existing folder/,
      );
    }
  });

  test("must be an object, and `undefined` in one counts as not given", async () => {
    for (const options of [null, "x", []]) await expect(create(options)).rejects.toThrow(UsageError);
    const home = temporaryFolder();
    await expect(create({ home, cwd: undefined, trust: undefined, paths: undefined })).resolves.toBeDefined();
  });

  test("`METIER_HOME` of the given environment is the home, unless `home` says otherwise", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/a/SKILL.md": skill("a"),
      "other/.metier/skills/b/SKILL.md": skill("b"),
    });
    const { project: cwd, home } = world;
    const environment = { METIER_HOME: join(world.root, "other") };
    expect((await createMetier({ cwd, environment })).names()).toEqual(["b"]);
    expect((await createMetier({ cwd, environment, home })).names()).toEqual(["a"]);
    expect((await createMetier({ cwd, environment: {} })).names()).toEqual([]);
  });
});
