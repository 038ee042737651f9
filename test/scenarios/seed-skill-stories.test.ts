/** The stories of the system whose prompt section this is: what a section tells of is what its reader finds mounted. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AgentSkillsSection } from "metier";
import { mountSkills } from "metier/skills";
import { expect, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/temporary.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill, type World } from "../support/world.ts";

function folderOf(world: World, folder: string, names: readonly string[]): string {
  for (const name of names) world.write({ [`${folder}/${name}/SKILL.md`]: skill(name) });
  return join(world.root, folder);
}

/** Mounts what the section tells of, and reads the files at the places it names. */
async function readToldPlaces(
  section: AgentSkillsSection,
  workspace: string,
  target: string,
): Promise<readonly string[]> {
  const mount = await mountSkills(section.skills, { workspace, target });
  onTestFinished(mount.cleanup);
  return [...section.render().matchAll(/<location>(.+)<\/location>/g)].map(([, place = ""]) => {
    expect(readFileSync(join(workspace, place, "SKILL.md"), "utf8")).toContain("Do the thing.");
    return place;
  });
}

verifies([86, 119, 212], "a review gets the skills that its globs allow, in its workspace", async () => {
  const world = createWorld();
  const skills = folderOf(world, "skills", ["security-audit", "python-style", "csv-clean"]);
  const section = await AgentSkillsSection.create({ skills, allowedSkills: ["security-*", "python-*"] });
  const workspace = temporaryFolder();
  expect(await readToldPlaces(section, workspace, "skills")).toEqual([
    "skills/python-style",
    "skills/security-audit",
  ]);
  expect(existsSync(join(workspace, "skills/csv-clean"))).toBe(false);
});

verifies([86, 119, 212], "skills of an organisation and of a project stand side by side", async () => {
  const world = createWorld();
  const workspace = temporaryFolder();
  const org = await AgentSkillsSection.create({
    skills: folderOf(world, "org-skills", ["deploy", "review"]),
    mountPath: "skills/org",
  });
  const project = await AgentSkillsSection.create({
    skills: folderOf(world, "project-skills", ["review"]),
    mountPath: "skills/project",
  });
  expect(await readToldPlaces(org, workspace, "skills/org")).toEqual([
    "skills/org/deploy",
    "skills/org/review",
  ]);
  expect(await readToldPlaces(project, workspace, "skills/project")).toEqual(["skills/project/review"]);
});

verifies([86, 212], "a data pipeline gets its kinds of skills, and none that are denied", async () => {
  const world = createWorld();
  const names = ["csv-clean", "json-flatten", "parquet-join", "csv-old-deprecated", "pdf-read"];
  const section = await AgentSkillsSection.create({
    skills: folderOf(world, "skills", names),
    allowedSkills: ["csv-*", "json-*", "parquet-*"],
    deniedSkills: ["*-deprecated"],
  });
  expect(section.skills.map(({ name }) => name)).toEqual(["csv-clean", "json-flatten", "parquet-join"]);
});
