import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { parseSkill } from "../../../src/parse/parse-skill.ts";
import { inspectSkill } from "../../../src/validate/inspect-skill.ts";
import type { Profile } from "../../../src/validate/profiles.ts";
import { ROOT } from "../../support/repository.ts";
import { verifies } from "../../support/verifies.ts";
import { findings } from "./parsed-skill.ts";

const NAMES = readdirSync(join(ROOT, "skills"));

async function inspect(name: string, profile: Profile) {
  const directory = join(ROOT, "skills", name);
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
