import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  createInstallWorld,
  DOUBTFUL,
  faultOf,
  resultOf,
  STEALING,
  skillFiles,
} from "../../../../test/support/installing.ts";
import type { InstallReview } from "../../src/install/requests.ts";

describe("the scan", () => {
  const evil = { ...skillFiles("", "evil"), "scripts/go.sh": STEALING };

  test("blocks a skill whoever asks and whatever the options", async () => {
    const world = createInstallWorld();
    const repository = world.repository(evil);
    const metier = await world.metier();
    const outcome = await metier.install(
      { source: repository.url, yes: true, force: true },
      { review: async () => true },
    );
    const { installed, skipped, findings } = resultOf(outcome);
    expect(installed).toEqual([]);
    expect(skipped).toMatchObject([{ name: "evil", code: "install.blocked" }]);
    expect(findings).toContainEqual(
      expect.objectContaining({ skill: "evil", severity: "block", path: "scripts/go.sh" }),
    );
    expect([world.stored(), world.quarantined()]).toEqual([[], []]);
  });

  test("wants someone to look at what is doubtful, which `yes` says was done", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...skillFiles("", "doubtful"), "scripts/go.sh": DOUBTFUL });
    const metier = await world.metier();
    const unasked = resultOf(await metier.install({ source: repository.url }));
    expect(unasked.skipped).toMatchObject([
      { code: "install.unreviewed", hint: expect.stringContaining("--yes") },
    ]);
    const declined = resultOf(
      await metier.install({ source: repository.url }, { review: async () => false }),
    );
    expect(declined.skipped).toMatchObject([{ code: "install.declined" }]);
    expect(world.stored()).toEqual([]);
    expect(resultOf(await metier.install({ source: repository.url, yes: true })).installed).toHaveLength(1);
    expect(metier.require("doubtful").trust.level).toBe("untrusted");
  });

  test("and everything else is shown before anyone is asked", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...skillFiles("", "doubtful"), "scripts/go.sh": DOUBTFUL });
    const metier = await world.metier();
    const told: InstallReview[] = [];
    await metier.install(
      { source: repository.url, onReview: (review) => told.push(review) },
      {
        async review(review) {
          expect(told).toEqual([review]);
          return false;
        },
      },
    );
    expect(told[0]?.skills).toMatchObject([
      { called: "doubtful", files: 2, scripts: [{ language: "shell", paths: ["scripts/go.sh"] }] },
    ]);
    expect(told[0]?.skills[0]?.findings.length).toBeGreaterThan(0);
  });
});

describe("the config of the scan", () => {
  test("blocks from a lower severity on, and leaves out rules that the user ignores", async () => {
    const world = createInstallWorld();
    const doubtful = world.repository({ ...skillFiles("", "doubtful"), "go.sh": DOUBTFUL }, "doubtful");
    const evil = world.repository({ ...skillFiles("", "evil"), "go.sh": STEALING }, "evil");
    world.write({ "home/.metier/config.toml": '[scan]\nblock = "high"\n' });
    const strict = resultOf(await (await world.metier()).install({ source: doubtful.url, yes: true }));
    expect(strict.skipped).toMatchObject([{ code: "install.blocked" }]);
    const rules = strict.findings.map(({ id }) => `"${id}"`).join(", ");
    world.write({ "home/.metier/config.toml": `[scan]\nblock = "high"\nignore = [${rules}]\n` });
    const metier = await world.metier();
    expect(resultOf(await metier.install({ source: doubtful.url })).installed).toHaveLength(1);
    expect(resultOf(await metier.install({ source: evil.url })).skipped).toMatchObject([
      { code: "install.blocked" },
    ]);
  });

  test("of a project can only block more", async () => {
    const world = createInstallWorld();
    const evil = world.repository({ ...skillFiles("", "evil"), "go.sh": STEALING });
    world.write({ "project/.metier/config.toml": '[scan]\nignore = ["exfiltration.secret"]\n' });
    const metier = await world.metier();
    expect(resultOf(await metier.install({ source: evil.url })).skipped).toMatchObject([
      { code: "install.blocked" },
    ]);
  });
});

describe("a baseline", () => {
  const evil = { ...skillFiles("skills/evil", "evil"), "skills/evil/go.sh": STEALING };

  test("is written by a look that installs nothing, and then lets in exactly what was accepted", async () => {
    const world = createInstallWorld();
    const repository = world.repository(evil);
    const file = join(world.project, "accepted.json");
    const looked = await world.cli("install", repository.url, "--write-baseline", file);
    expect(looked).toMatchObject({ code: 0, stderr: expect.stringContaining("Nothing was installed.") });
    expect(world.stored()).toEqual([]);
    const accepted = JSON.parse(readFileSync(file, "utf8")).accepted;
    expect(accepted).toContainEqual(expect.objectContaining({ skill: "evil", path: "go.sh" }));
    expect(accepted[0]).not.toHaveProperty("folder");

    const without = await world.cli("install", repository.url, "--yes");
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining("--write-baseline") });
    expect((await world.cli("install", repository.url, "--baseline", file)).code).toBe(0);
    expect(world.stored()).toHaveLength(1);
  });

  test("of the config holds for installing, restoring, updating and using", async () => {
    const world = createInstallWorld();
    const repository = world.repository(evil);
    const file = join(world.home, "accepted.json");
    await world.cli("install", repository.url, "--write-baseline", file);
    world.write({ "home/.metier/config.toml": `[scan]\nbaseline = ["~/accepted.json"]\n` });
    const metier = await world.metier();
    expect(resultOf(await metier.install({ source: repository.url })).installed).toHaveLength(1);
    expect(await metier.prepare({ skill: "evil" })).toMatchObject({ ok: true });

    rmSync(world.places.store, { recursive: true });
    expect(resultOf(await metier.install({})).installed).toHaveLength(1);

    repository.commit({ ...evil, "skills/evil/more.md": "More.\n" });
    expect(await metier.update()).toMatchObject({ ok: true, updated: [{ name: "evil" }] });

    const worst = STEALING.replace("evil.example.com", "worse.example.com");
    repository.commit({ ...evil, "skills/evil/go.sh": worst });
    const worse = await metier.update({ yes: true });
    expect(worse).toMatchObject({ ok: true, updated: [], skipped: [{ code: "install.blocked" }] });
    const added = await world.cli("update", "--write-baseline", file);
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("accepted") });
    expect(await metier.update({ yes: true })).toMatchObject({ ok: true, updated: [{ name: "evil" }] });
  });

  test("that is not there is a fault when asked for, and a warning when the config names it", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "calm"));
    const metier = await world.metier();
    const asked = await metier.install({ source: repository.url, baseline: "none.json" });
    expect(faultOf(asked)).toMatchObject({
      code: "install.usage",
      message: expect.stringContaining("none.json` cannot be read"),
      hint: expect.stringContaining("--write-baseline"),
    });
    world.write({ "home/.metier/config.toml": '[scan]\nbaseline = "none.json"\n' });
    const { diagnostics } = resultOf(await (await world.metier()).install({ source: repository.url }));
    expect(diagnostics).toMatchObject([{ code: "scan.baseline-unreadable", severity: "warning" }]);
  });
});
