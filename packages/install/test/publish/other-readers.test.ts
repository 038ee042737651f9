/** Readers that nobody here wrote, over what was published: the skills extension of MCP, and the machine's own `tar`. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { loadSkills } from "@modelcontextprotocol/server/ext/skills/node";
import { expect, test } from "vitest";
import { readFolder } from "../../../../test/support/git-fetching.ts";
import { createInstallWorld } from "../../../../test/support/installing.ts";
import { published, writeSkills } from "../../../../test/support/publishing.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { packPlugin } from "../../src/publish/pack-plugin.ts";

const HAS_TAR = spawnSync("tar", ["--version"]).status === 0;

test("the MCP SDK loads the skills of a plugin, every file with its digest", async () => {
  const world = createInstallWorld();
  writeSkills(world);
  rmSync(join(world.project, "skills/report/start")); // It serves no skill with a link in it.
  const options = { skills: ["skills"], output: "plugin", name: "tools", cwd: world.project };
  expect(await packPlugin(await world.metier(), options)).toMatchObject({ ok: true });
  const { entries } = await loadSkills(join(world.project, "plugin/skills"));
  expect(entries.map(({ uri }) => uri)).toEqual(["skill://pdf/SKILL.md", "skill://report/SKILL.md"]);
  expect(entries[1]?.resources).toHaveLength(3);
});

test.skipIf(!HAS_TAR)("`tar` unpacks an archive without a word", async () => {
  const world = createInstallWorld();
  writeSkills(world);
  const { index, skills } = await published(world, { skills: ["skills/report"] });
  const into = temporaryFolder();
  const archive = join(index, "..", skills[0]?.url ?? "");
  const said = execFileSync("tar", ["-xzf", archive, "-C", into, "--no-same-owner"], {
    encoding: "utf8",
    stdio: "pipe",
  });
  expect(said).toBe("");
  expect(readFolder(into)).toEqual(readFolder(join(world.project, "skills/report")));
  expect(readFileSync(join(into, "start"), "utf8")).toContain("echo hi");
});
