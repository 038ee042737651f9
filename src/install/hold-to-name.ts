/**
 * A skill is installed under its own name, so that must be one. What people write (`PDF Processing`) is normalised as
 * everywhere; what reads like a path, hides characters or goes on for ever is not, since it means to be something else.
 */
import { join } from "node:path";
import { MAX_SKILL_BYTES } from "../catalog/read-skill.ts";
import { readBounded } from "../host/read-bounded.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import { MAX_NAME_LENGTH } from "../skill/skill-name.ts";
import type { SourceSkill } from "./find-source-skills.ts";

const MISLEADING = /[/\\]|\.\.|[\p{Cc}\p{Cf}]/u;

export async function holdToName(skill: SourceSkill): Promise<SourceSkill> {
  const isNormalised = skill.diagnostics.some(({ code }) => code === "name.grammar");
  const written = isNormalised ? await readName(skill) : "";
  if (!MISLEADING.test(written) && [...written].length <= MAX_NAME_LENGTH) return skill;
  const diagnostics = skill.diagnostics.map((diagnostic) =>
    diagnostic.code === "name.grammar" ? { ...diagnostic, severity: "error" as const } : diagnostic,
  );
  return { ...skill, diagnostics, valid: false };
}

/** As the file has it. */
async function readName({ directory, name }: SourceSkill): Promise<string> {
  const file = join(directory, "SKILL.md");
  const read = readBounded(file, MAX_SKILL_BYTES);
  const candidate = { form: "directory", file, directory, defaultName: name } as const;
  const parsed = read.ok ? await parseSkill(candidate, read.text) : undefined;
  return String(parsed?.frontmatter?.name ?? "");
}
