import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createInstallWorld, readText, resultOf, skillFiles } from "../../../../test/support/installing.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { InstallConflict } from "../../src/install/requests.ts";

describe("a name that is taken", () => {
  verifies(
    [190, "case 100"],
    "is a refusal that names the ways out, replaced by force, or renamed",
    async () => {
      const world = createInstallWorld();
      const first = world.repository(skillFiles("", "alpha", "first"), "first");
      const second = world.repository(skillFiles("", "alpha", "second"), "second");
      const metier = await world.metier();
      resultOf(await metier.install({ source: first.url }));
      const refused = resultOf(await metier.install({ source: second.url, yes: true }));
      expect(refused.installed).toEqual([]);
      expect(refused.skipped).toMatchObject([
        {
          code: "install.conflict",
          reason: expect.stringContaining(first.url),
          hint: expect.stringContaining("--force"),
        },
      ]);
      resultOf(await metier.install({ source: second.url, name: "alpha-two" }));
      expect(metier.names()).toEqual(expect.arrayContaining(["alpha", "alpha-two"]));
      resultOf(await metier.install({ source: second.url, force: true }));
      expect(world.lock().skills.find(({ alias }) => alias === undefined)).toMatchObject({
        source: second.url,
      });
      // Another source's skill is no earlier version of this one.
      expect(world.lock().skills.find(({ alias }) => alias === undefined)?.previous).toBeUndefined();
    },
  );

  verifies(190, "is asked about where someone can answer: rename, replace or skip", async () => {
    const world = createInstallWorld();
    const first = world.repository(skillFiles("", "alpha", "first"), "first");
    const second = world.repository(skillFiles("", "alpha", "second"), "second");
    const metier = await world.metier();
    resultOf(await metier.install({ source: first.url }));
    const asked: InstallConflict[] = [];
    const answering = async (answer: "skip" | "replace" | { rename: string }) =>
      resultOf(
        await metier.install(
          { source: second.url },
          {
            async conflict(about) {
              asked.push(about);
              return answer;
            },
          },
        ),
      );
    expect((await answering("skip")).skipped).toMatchObject([{ code: "skipped" }]);
    expect((await answering({ rename: "../x" })).skipped).toMatchObject([{ code: "install.conflict" }]);
    expect((await answering({ rename: "alpha" })).skipped).toMatchObject([{ code: "install.conflict" }]);
    expect((await answering({ rename: "other" })).installed).toMatchObject([{ name: "other" }]);
    expect((await answering("replace")).installed).toMatchObject([{ name: "alpha" }]);
    expect(asked[0]).toMatchObject({
      called: "alpha",
      isSameSource: false,
      installed: { source: first.url },
    });
  });

  verifies("case 105", "by the same content of the same source is no work at all", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    const before = readText(world.places.lockFile);
    const { installed, skipped, findings } = resultOf(await metier.install({ source: repository.url }));
    expect([installed, findings]).toEqual([[], []]);
    expect(skipped).toMatchObject([{ name: "alpha", code: "same" }]);
    expect(readText(world.places.lockFile)).toBe(before);
  });

  test("by a newer version of the same skill is for `update`, or for force, which can be rolled back", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha", "one"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    const [before] = world.lock().skills;
    repository.commit(skillFiles("", "alpha", "two"));
    const refused = resultOf(await metier.install({ source: repository.url }));
    expect(refused.skipped).toMatchObject([{ hint: expect.stringContaining("metier update alpha") }]);
    resultOf(await metier.install({ source: repository.url, force: true }));
    const [after] = world.lock().skills;
    expect(after?.previous).toMatchObject({ digest: before?.digest, resolved: before?.resolved });
  });

  test("by the same content is put right when the store was damaged", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    const [skillHere] = resultOf(await metier.install({ source: repository.url })).installed;
    writeFileSync(join(skillHere?.path ?? "", "SKILL.md"), "damaged");
    const { installed } = resultOf(await metier.install({ source: repository.url }));
    expect(installed).toMatchObject([{ name: "alpha" }]);
    expect(readText(skillHere?.path ?? "", "SKILL.md")).toContain("name: alpha");
  });
});
