import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createInstallWorld, STEALING } from "../../../../test/support/installing.ts";
import { published, publishFault, TOKEN } from "../../../../test/support/publishing.ts";
import { skill } from "../../../../test/support/world.ts";

describe("publishing refuses", () => {
  const refused: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    ["a skill that is not valid", { "SKILL.md": skill("other") }, /not valid/],
    [
      "a field that the specification does not have",
      { "SKILL.md": skill("pdf", "model: fast") },
      /not valid/,
    ],
    ["what the scan blocks", { "SKILL.md": skill("pdf"), "run.sh": STEALING }, /run\.sh.*`scan\.block`/],
    ["a secret", { "SKILL.md": skill("pdf"), "notes.md": `${TOKEN}\n` }, /secret in `notes\.md`/],
    ["a skill file of another name", { "skill.md": skill("pdf") }, /another name/],
    [
      "names that are one where case does not count",
      { "SKILL.md": skill("pdf"), "a.md": "", "A.md": "" },
      /same name/,
    ],
    [
      "names with invisible characters",
      { "SKILL.md": skill("pdf"), "a\u202eb.md": "" },
      /invisible characters/,
    ],
  ];
  test.each(refused)("%s, and writes nothing of the others", async (_, files, reason) => {
    const world = createInstallWorld();
    world.write(
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`project/skills/pdf/${path}`, text])),
    );
    world.write({ "project/skills/good/SKILL.md": skill("good") });
    const fault = await publishFault(world);
    expect(fault).toMatchObject({ code: "publish.refused", refused: [{ name: "pdf" }] });
    expect(fault.refused[0]?.reason).toMatch(reason);
    expect(existsSync(join(world.project, "site"))).toBe(false);
  });

  test("a link that leads out of the skill, one that leads nowhere, and one to what is left out", async () => {
    for (const target of ["../../secret", "missing.md", "evals/evals.json", "/etc/passwd"]) {
      const world = createInstallWorld();
      world.write({
        "project/skills/pdf/SKILL.md": skill("pdf"),
        "project/skills/pdf/evals/evals.json": "{}",
        "project/secret": "x",
      });
      symlinkSync(target, join(world.project, "skills/pdf/link"));
      expect((await publishFault(world)).refused[0]?.reason).toContain("link");
    }
  });

  test("a skill file that is a link", async () => {
    const world = createInstallWorld();
    world.write({ "project/skills/pdf/body.md": skill("pdf") });
    symlinkSync("body.md", join(world.project, "skills/pdf/SKILL.md"));
    expect((await publishFault(world)).refused[0]?.reason).toContain("is a link");
  });

  test("more than 512 files, and more than 16 MiB", async () => {
    const world = createInstallWorld();
    const many = Object.fromEntries(
      Array.from({ length: 512 }, (_, index) => [`project/skills/pdf/${index}.md`, ""]),
    );
    world.write({ "project/skills/pdf/SKILL.md": skill("pdf"), ...many });
    expect((await publishFault(world)).refused[0]?.reason).toContain("more than 512 files");
    const large = createInstallWorld();
    large.write({ "project/skills/pdf/SKILL.md": skill("pdf") });
    writeFileSync(join(large.project, "skills/pdf/data.bin"), Buffer.alloc(16 * 1024 * 1024 + 1));
    expect((await publishFault(large)).refused[0]?.reason).toContain("16777217 bytes");
  });

  test("two skills of one name", async () => {
    const world = createInstallWorld();
    world.write({ "project/a/pdf/SKILL.md": skill("pdf"), "project/b/pdf/SKILL.md": skill("pdf") });
    const fault = await publishFault(world);
    expect(fault.refused.map(({ path }) => path)).toEqual([
      join(world.project, "a/pdf"),
      join(world.project, "b/pdf"),
    ]);
  });

  test("names that cannot stand in an index, flat files, and a place without a skill", async () => {
    const world = createInstallWorld();
    world.write({ "project/skills/größe/SKILL.md": skill("größe") });
    expect((await publishFault(world)).message).toContain("`größe`");
    world.write({ "project/flat/pdf.md": skill("pdf"), "project/empty/notes.txt": "x" });
    expect((await publishFault(world, { skills: ["flat"] })).refused[0]?.reason).toContain("single file");
    expect(await publishFault(world, { skills: ["empty"] })).toMatchObject({ code: "publish.no_skill" });
  });

  test("takes a field of Metier's own under the profile `standard`", async () => {
    const world = createInstallWorld();
    world.write({ "project/skills/pdf/SKILL.md": skill("pdf", "model: fast") });
    expect((await published(world, { profile: "standard" })).skills).toHaveLength(1);
  });
});
