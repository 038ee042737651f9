import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  SkillConflictError,
  SkillNotFoundError,
  SkillValidationError,
  UsageError,
} from "@metier/base/errors";
import type { GivenSkill } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import type { Metier } from "../../src/runtime/create-metier.ts";

const GIVEN = { name: "given", description: "From code.", instructions: "Do it." };

/** What a JavaScript program might pass. */
function given(value: unknown): GivenSkill {
  return value as GivenSkill;
}

describe("a path", () => {
  verifies("case 95", "is registered once, by whatever name; taken away, it is gone", async () => {
    const world = createWorld();
    world.write({ "c/SKILL.md": skill("c"), "many/d/SKILL.md": skill("d"), "many/e/SKILL.md": skill("e") });
    const path = join(world.root, "c");
    symlinkSync(path, join(world.root, "link"));
    const metier = await world.metier();
    await metier.register(path);
    for (const again of [path, join(path, "SKILL.md"), join(world.root, "link"), pathToFileURL(path)]) {
      await expect(metier.register(again)).rejects.toThrow(SkillConflictError);
    }
    await expect(metier.register(path)).rejects.toMatchObject({
      skillName: "c",
      paths: [join(path, "SKILL.md"), path],
      hint: "It is already in the catalog.",
    });
    await metier.deregister("c");
    expect(metier.has("c")).toBe(false);
    await expect(metier.deregister("c")).rejects.toThrow(SkillNotFoundError);

    await metier.register(join(world.root, "many/d"));
    await expect(metier.register(join(world.root, "many"))).rejects.toThrow(SkillConflictError);
    expect(metier.names()).toEqual(["d"]);
  });

  test("of a skill that was found or configured already is refused too", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/skills/a/SKILL.md": skill("a"),
      "home/.metier/skills/b/SKILL.md": skill("b"),
      "custom/c/SKILL.md": skill("c"),
    });
    const metier = await world.metier({ paths: [join(world.root, "custom")] });
    for (const path of ["project/.metier/skills/a", "home/.metier/skills", "custom", "custom/c"]) {
      await expect(metier.register(join(world.root, path))).rejects.toThrow(SkillConflictError);
    }
    expect(metier.catalog.all).toHaveLength(3);
  });

  test("of a folder around known skills counts for what it adds, and takes only that away", async () => {
    const world = createWorld();
    const deep = "project/.metier/skills/one/two/three/four/five/a/SKILL.md";
    world.write({
      [deep]: skill("deep"),
      "project/.metier/skills/a/SKILL.md": skill("a"),
      "project/tools/x/SKILL.md": skill("x"),
    });
    const metier = await world.metier({ config: { skills: { "project-dirs": [".metier/skills/one/two"] } } });
    expect(metier.names()).toEqual(["deep"]);
    expect((await metier.register(world.project)).scope).toBe("custom");
    expect(metier.names()).toEqual(["a", "deep", "x"]);
    await expect(metier.deregister("deep")).rejects.toThrow(SkillNotFoundError);
    await metier.deregister("x");
    expect(metier.names()).toEqual(["deep"]);
  });

  test("may begin with `~`, and is found through a link", async () => {
    const world = createWorld();
    world.write({ "home/mine/a/SKILL.md": skill("a"), "b/SKILL.md": skill("b") });
    symlinkSync(join(world.root, "b"), join(world.root, "link"));
    const metier = await world.metier();
    expect((await metier.register("~/mine/a")).name).toBe("a");
    expect((await metier.register(join(world.root, "link"))).location).toBe(
      join(world.root, "link/SKILL.md"),
    );
    await metier.deregister("b");
    expect(metier.names()).toEqual(["a"]);
  });

  test("that was registered before its folder was searched can still be taken away", async () => {
    const world = createWorld();
    world.write({ "home/.metier/skills/a/SKILL.md": skill("a"), "b/SKILL.md": skill("b") });
    const metier = await world.metier({ autoDiscover: false });
    await metier.register(join(world.home, ".metier/skills/a"));
    await metier.register(join(world.root, "b"));
    await metier.discover();
    expect(metier.list().map(({ name, scope }) => `${scope}:${name}`)).toEqual(["user:a", "custom:b"]);
    await metier.deregister("a");
    expect(metier.names()).toEqual(["a", "b"]);
    await expect(metier.deregister("a")).rejects.toThrow(SkillNotFoundError);
  });

  test.each([[null], [42], [undefined], [""], [new URL("https://example.com/a")]])(
    "%s is neither a path nor a skill, which is said",
    async (value) => {
      const metier = await createWorld().metier();
      await expect(metier.register(given(value))).rejects.toThrow(UsageError);
      await expect(metier.validate(given(value))).rejects.toThrow(UsageError);
    },
  );
});

describe("an object", () => {
  test("of a name that a path has too goes away with it", async () => {
    const world = createWorld();
    world.write({ "given/SKILL.md": skill("given") });
    const metier = await world.metier();
    await metier.register(GIVEN);
    await metier.register(join(world.root, "given"));
    await metier.deregister("given");
    expect(metier.has("given")).toBe(false);
  });

  test("may have a name to show", async () => {
    const metier = await createWorld().metier();
    const shown = { ...GIVEN, "display-name": "The Given One" };
    expect((await metier.register(shown)).manifest.displayName).toBe("The Given One");
    expect((await metier.register({ ...GIVEN, name: "Other Name" })).name).toBe("other-name");
    await metier.deregister("given");
    await metier.deregister("other-name");
    expect(metier.names()).toEqual([]);
  });

  test.each<readonly [what: string, value: unknown, errors: readonly string[]]>([
    [
      "without instructions",
      { name: "x", description: "X." },
      ["`instructions` is missing; it must be a string."],
    ],
    ["with a list", { ...GIVEN, instructions: ["a"] }, ["`instructions` is a list; it must be a string."]],
    ["without a name", { ...GIVEN, name: undefined }, ["`name` is missing; it must be a non-empty string."]],
    [
      "with a blank name",
      { ...GIVEN, name: " " },
      ["`name` is an empty string; it must be a non-empty string."],
    ],
    [
      "with a number for everything",
      { name: 1, description: 2, instructions: 3 },
      [
        "`name` is a number; it must be a non-empty string.",
        "`instructions` is a number; it must be a string.",
      ],
    ],
    ["that is a list", [GIVEN], ["A skill was given as a list; it must be an object."]],
    ["without a description", { ...GIVEN, description: undefined }, ["`description` is missing."]],
  ])("%s is refused with the reasons, and nothing else's", async (_, value, errors) => {
    const world = createWorld();
    world.write({ "project/.metier/skills/broken/SKILL.md": "no frontmatter" });
    const metier = await world.metier();
    const fault = await metier.register(given(value)).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(SkillValidationError);
    expect(fault).toMatchObject({ errors });
    expect((await metier.validate(given(value))).valid).toBe(false);
  });

  test("with values that no file could hold loads without them, and says so", async () => {
    const metier = await createWorld().metier();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const added = await metier.register(given({ ...GIVEN, hooks: () => 1, metadata: circle, version: 1n }));
    expect(added.diagnostics.map(({ code, path, message }) => [code, path, message])).toEqual([
      [
        "field.wrong-type",
        "integration:given",
        "`hooks` is a function that a skill file cannot contain; it was ignored.",
      ],
      [
        "field.wrong-type",
        "integration:given",
        "`metadata` is an object that a skill file cannot contain; it was ignored.",
      ],
      [
        "field.wrong-type",
        "integration:given",
        "`version` is a bigint that a skill file cannot contain; it was ignored.",
      ],
    ]);
  });

  test("that is no skill does not keep the other integrations away", async () => {
    const world = createWorld();
    world.write({ "project/org/a/SKILL.md": skill("a") });
    const broken = [
      null,
      7,
      "",
      { name: "x", description: "X." },
      { description: "X.", instructions: "Do." },
    ];
    const metier = await world.metier({ integrations: [...broken.map(given), "org", GIVEN] });
    expect(metier.names()).toEqual(["a", "given"]);
    expect(metier.require("a").location).toBe(join(world.project, "org/a/SKILL.md"));
    expect(unusable(metier)).toEqual([
      ["integration:(no name)", "A skill was given as null; it must be an object."],
      ["integration:(no name)", "A skill was given as a number; it must be an object."],
      ["integration:(no name)", "A skill was given as an empty string; it must be an object."],
      ["integration:(no name)", "`name` is missing; it must be a non-empty string."],
      ["integration:x", "`instructions` is missing; it must be a string."],
    ]);
  });
});

function unusable(metier: Metier): readonly (readonly [string, string])[] {
  return metier
    .diagnostics()
    .filter(({ code }) => code === "given.unusable")
    .map(({ path, message }) => [path, message]);
}
