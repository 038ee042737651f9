import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RefusalCause } from "@metier/run";
import type { Metier } from "@metier/runtime";
import { describe, expect, test } from "vitest";
import { DOUBTFUL, STEALING } from "../../support/installing.ts";
import { createWorld, skill, type World } from "../../support/world.ts";

/** A skill of a project that nobody trusts, with a script. */
function projectSkill(script = STEALING, name = "evil"): World {
  const world = createWorld();
  world.write({
    [`project/.agents/skills/${name}/SKILL.md`]: skill(name),
    [`project/.agents/skills/${name}/scripts/go.sh`]: script,
  });
  return world;
}

async function refusalOf(metier: Metier, name = "evil"): Promise<RefusalCause> {
  const outcome = await metier.prepare({ skill: name });
  if (outcome.ok) throw new Error("It was not refused.");
  return outcome.refusal;
}

const untrusting = { trust: "grants" } as const;

describe("an untrusted skill with a finding at `scan.block`", () => {
  test("is refused with the finding, its place and what to do", async () => {
    const metier = await projectSkill().metier(untrusting);
    expect(metier.require("evil").status).toBe("enabled");
    const refusal = await refusalOf(metier);
    expect(refusal.reason).toBe("blocked");
    expect(refusal.message).toContain("scripts/go.sh:2");
    expect(refusal.message).toContain("exfiltration.secret");
    for (const way of ["metier scan evil", "metier trust evil", "scan.block", "scan.baseline"])
      expect(refusal.hint).toContain(way);
    expect(refusal.data).toMatchObject({ block: "block", findings: [{ path: "scripts/go.sh", line: 2 }] });
  });

  test("is refused before trust is asked about, so that nobody is told to trust it first", async () => {
    const world = projectSkill();
    world.write({ "project/.agents/skills/evil/SKILL.md": skill("evil", "context: fork") });
    const metier = await world.metier(untrusting);
    const outcome = await metier.prepare({ skill: "evil" });
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "blocked", also: [{ reason: "trust" }] } });
  });

  test("is not activated, run, asked for a script, or read to a model", async () => {
    const metier = await projectSkill().metier(untrusting);
    const blocked = { reason: "blocked" };
    expect(await metier.activate({ skill: "evil" })).toMatchObject({ kind: "refused", refusal: blocked });
    expect(await metier.run({ skill: "evil" })).toMatchObject({ status: "refused", refusal: blocked });
    const script = await metier.script({ skill: "evil", script: "scripts/go.sh" });
    expect(script).toMatchObject({ status: "refused", refusal: blocked });
    const { tools } = metier.skillTools();
    for (const [name, input] of [
      ["use_skill", { skill: "evil" }],
      ["read_skill_file", { skill: "evil", path: "SKILL.md" }],
    ] as const) {
      const output = await tools.find((tool) => tool.name === name)?.execute(input);
      expect(output).toMatchObject({ isError: true, text: expect.stringContaining("exfiltration.secret") });
    }
  });

  test("of another client's folder, or a path of the config, is refused, too", async () => {
    const world = createWorld();
    for (const folder of ["project/.claude/skills/one", "team/two"]) {
      const name = folder.slice(-3);
      world.write({ [`${folder}/SKILL.md`]: skill(name), [`${folder}/go.sh`]: STEALING });
    }
    const metier = await world.metier({ ...untrusting, paths: [join(world.root, "team")] });
    expect((await refusalOf(metier, "one")).reason).toBe("blocked");
    expect((await refusalOf(metier, "two")).reason).toBe("blocked");
  });

  test("can be listed, read and shown, and nothing is scanned for that", async () => {
    const world = projectSkill();
    for (const command of [["list"], ["show", "evil"], ["read", "evil"], ["find", "evil"], ["prompt"]])
      expect((await world.cli(...command)).code, command.join(" ")).toBe(0);
    expect(existsSync(join(world.home, ".metier", "cache", "scans"))).toBe(false);
  });

  test("is explained by `metier doctor`, and `metier run` ends with exit code 3", async () => {
    const world = projectSkill();
    const run = await world.cli("run", "evil");
    expect(run.code).toBe(3);
    expect(run.stderr).toContain("scripts/go.sh:2");
    const doctor = await world.cli("doctor", "evil");
    expect(doctor.stdout).toContain("`evil` can't be used: blocked by the scan.");
    expect(doctor.stdout).toContain("metier scan evil");
  });
});

describe("is not held back", () => {
  test("a trusted skill, whatever is found in it", async () => {
    const world = projectSkill();
    const metier = await world.metier(); // The program vouches for the project.
    expect(await metier.prepare({ skill: "evil" })).toMatchObject({ ok: true });
    expect(existsSync(join(world.home, ".metier", "cache", "scans"))).toBe(false);
  });

  test("a skill whose findings are milder than `scan.block`, until the config lowers it", async () => {
    const world = projectSkill(DOUBTFUL, "doubtful");
    const usual = await world.metier(untrusting);
    expect(await usual.prepare({ skill: "doubtful" })).toMatchObject({ ok: true });
    world.write({ "home/.metier/config.toml": '[scan]\nblock = "medium"\n' });
    const strict = await world.metier(untrusting);
    expect((await refusalOf(strict, "doubtful")).reason).toBe("blocked");
  });

  test("a skill whose rule is ignored, or whose findings a baseline of the config accepts", async () => {
    const world = projectSkill();
    const file = join(world.root, "accepted.json");
    expect((await world.cli("scan", "evil", "--write-baseline", file)).code).toBe(0);
    world.write({ "home/.metier/config.toml": `[scan]\nbaseline = ${JSON.stringify(file)}\n` });
    expect(await (await world.metier(untrusting)).prepare({ skill: "evil" })).toMatchObject({ ok: true });
    // Something else is found: what was accepted says nothing about it.
    const other = STEALING.replace("evil.example.com", "worse.example.com");
    world.write({ "project/.agents/skills/evil/scripts/go.sh": other });
    const metier = await world.metier(untrusting);
    const { findings } = (await refusalOf(metier)).data as { findings: readonly { readonly id: string }[] };
    const ignore = JSON.stringify(findings.map(({ id }) => id));
    world.write({ "home/.metier/config.toml": `[scan]\nignore = ${ignore}\n` });
    expect(await (await world.metier(untrusting)).prepare({ skill: "evil" })).toMatchObject({ ok: true });
  });

  test("anything by a baseline of the project itself, or by one that cannot be read", async () => {
    const world = projectSkill();
    const file = join(world.project, "accepted.json");
    await world.cli("scan", "evil", "--write-baseline", file);
    world.write({ "project/.metier/config.toml": `[scan]\nbaseline = ${JSON.stringify(file)}\n` });
    expect((await refusalOf(await world.metier(untrusting))).reason).toBe("blocked");
    world.write({ "home/.metier/config.toml": '[scan]\nbaseline = "/nowhere/accepted.json"\n' });
    const refusal = await refusalOf(await world.metier(untrusting));
    expect(refusal.hint).toContain("The baseline `/nowhere/accepted.json` cannot be read");
  });
});

describe("findings are remembered", () => {
  test("by content: unchanged files are not scanned again, changed ones are", async () => {
    const world = projectSkill("#!/bin/sh\necho hello\n");
    const metier = await world.metier(untrusting);
    expect(await metier.prepare({ skill: "evil" })).toMatchObject({ ok: true });
    const scans = join(world.home, ".metier", "cache", "scans");
    const [record = ""] = readdirSync(scans);
    // Whoever reads the record does not scan.
    const held = { id: "a.b", severity: "block", path: "x", line: 1, message: "Seen.", fingerprint: "0" };
    writeFileSync(join(scans, record), JSON.stringify([held]));
    expect((await refusalOf(metier)).message).toContain("x:1 Seen.");
    world.write({ "project/.agents/skills/evil/scripts/go.sh": STEALING });
    expect((await refusalOf(metier)).message).toContain("exfiltration.secret");
    expect(readdirSync(scans)).toHaveLength(2);
    writeFileSync(join(scans, record), "{");
    world.write({ "project/.agents/skills/evil/scripts/go.sh": "#!/bin/sh\necho hello\n" });
    expect(await metier.prepare({ skill: "evil" })).toMatchObject({ ok: true });
    expect(readFileSync(join(scans, record), "utf8")).toBe("[]");
  });
});
