import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "../../../../test/support/repository.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld } from "../../../../test/support/world.ts";
import { parseSkill } from "../../src/parse/parse-skill.ts";
import { inspectSkill } from "../../src/validate/inspect-skill.ts";
import type { Profile } from "../../src/validate/profiles.ts";
import { findings } from "./parsed-skill.ts";

const NAMES = readdirSync(join(ROOT, "packages/metier/skills"));

async function inspect(name: string, profile: Profile) {
  const directory = join(ROOT, "packages/metier/skills", name);
  const file = join(directory, "SKILL.md");
  const candidate = { form: "directory", file, directory, defaultName: name } as const;
  return inspectSkill(await parseSkill(candidate, readFileSync(file, "utf8")), profile);
}

verifies([54, "case 28"], "every bundled skill is sound under `standard`, without a warning", async () => {
  expect(NAMES.length).toBeGreaterThan(2);
  for (const name of NAMES) {
    const checked = await inspect(name, "standard");
    expect(
      findings(checked).filter((finding) => !finding.startsWith("info")),
      name,
    ).toEqual([]);
    expect(checked.manifest?.name).toBe(name);
  }
});

verifies([54, "case 28"], "at least three bundled skills keep to the published specification", async () => {
  const strict = await Promise.all(NAMES.map((name) => inspect(name, "strict")));
  expect(strict.filter(({ valid }) => valid).length).toBeGreaterThanOrEqual(3);
});

verifies(
  94,
  "the skill for capabilities is off until it is asked for, and the scan finds nothing",
  async () => {
    const world = createWorld();
    const { json: list } = await world.cli("list", "--json");
    const off = list.skills.filter(({ status }: { status: string }) => status === "disabled");
    expect(off.map(({ name }: { name: string }) => name)).toEqual(["gog"]);
    // Beyond the specification are only the fields that other clients pass over.
    const strict = findings(await inspect("gog", "strict"));
    expect(strict.filter((finding) => !finding.includes("field.not-in-spec"))).toEqual([]);
    const { json, code } = await world.cli("scan", join(ROOT, "packages/metier/skills/gog"), "--json");
    expect([code, json.findings]).toEqual([0, []]);
  },
);
