import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { storeFolder } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import type { Repository } from "../../../../test/support/git-repository.ts";
import {
  createInstallWorld,
  type InstallWorld,
  readText,
  resultOf,
  skillFiles,
} from "../../../../test/support/installing.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { skill } from "../../../../test/support/world.ts";

async function updated(more: object = {}): Promise<{ world: InstallWorld; repository: Repository }> {
  const world = createInstallWorld();
  const repository = world.repository(skillFiles("", "pdf", "First."));
  const metier = await world.metier();
  resultOf(await metier.install({ source: repository.url, ...more }));
  repository.commit(skillFiles("", "pdf", "Second."));
  expect(await metier.update()).toMatchObject({ ok: true, updated: [{ name: "pdf" }] });
  return { world, repository };
}

function previousFolder(world: InstallWorld): string {
  const [entry] = world.lock().skills;
  return storeFolder(world.places, { name: "pdf", digest: entry?.previous?.digest ?? "" });
}

describe("rollback", () => {
  verifies(191, "swaps the installed version and the one before, without a source", async () => {
    const { world, repository } = await updated();
    rmSync(repository.folder, { recursive: true });
    const [second] = world.lock().skills;
    const { code, json } = await world.cli("rollback", "pdf", "--json");
    expect([code, json.to.digest, json.from.digest]).toEqual([0, second?.previous?.digest, second?.digest]);
    const [first] = world.lock().skills;
    expect(first).toMatchObject({
      digest: second?.previous?.digest,
      resolved: second?.previous?.resolved,
      previous: { digest: second?.digest, resolved: second?.resolved },
    });
    expect(readText(json.path, "SKILL.md")).toContain("First.");
    const forward = await world.cli("rollback", "pdf");
    expect([forward.code, world.lock().skills[0]?.digest]).toEqual([0, second?.digest]);
  });

  test("fetches the version again where the store no longer has it as it was", async () => {
    const { world } = await updated();
    writeFileSync(join(previousFolder(world), "SKILL.md"), "damaged");
    const metier = await world.metier();
    expect(await metier.rollback("pdf")).toMatchObject({ ok: true });
    expect(readText(metier.require("pdf").location)).toContain("First.");
  });

  test("stays where it is when that version can no longer be had", async () => {
    const { world, repository } = await updated();
    rmSync(previousFolder(world), { recursive: true });
    rmSync(repository.folder, { recursive: true });
    const before = world.lock();
    const metier = await world.metier();
    expect(await metier.rollback("pdf")).toMatchObject({ ok: false, fault: { code: "source.not_found" } });
    expect(world.lock()).toEqual(before);
  });

  test("needs a version to go back to, and one skill that is meant", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "pdf"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    const none = await world.cli("rollback", "pdf", "--json");
    expect([none.code, none.json.error.code]).toEqual([1, "install.no_previous"]);
    resultOf(await metier.install({ source: repository.url, project: true }));
    expect(await metier.rollback("pdf")).toMatchObject({ ok: false, fault: { code: "install.choice" } });
    expect(await metier.rollback("pdf", { project: true })).toMatchObject({
      ok: false,
      fault: { code: "install.no_previous" },
    });
  });

  test("does not overwrite what was changed by hand, unless it is told to, and keeps a copy then", async () => {
    const { world } = await updated({ project: true, copy: true });
    const copy = join(world.project, ".metier/skills/pdf/SKILL.md");
    writeFileSync(copy, skill("pdf", "", "Mine."));
    const refused = await world.cli("rollback", "pdf");
    expect([refused.code, readText(copy)]).toEqual([1, expect.stringContaining("Mine.")]);
    const { code, json } = await world.cli("rollback", "pdf", "--force", "--json");
    expect([code, readText(copy)]).toEqual([0, expect.stringContaining("First.")]);
    expect(readText(json.kept[0], "SKILL.md")).toContain("Mine.");
  });
});
