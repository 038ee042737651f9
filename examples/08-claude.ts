/**
 * Skills for the Claude Agent SDK and Claude Code, in two ways: mounted where the client looks for them, and as tools
 * in this process. This doesn't need the client itself; it prints what the client would find.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetier } from "metier";
import { claudeSkills, mountClaudeSkills } from "metier/claude";
import { z } from "zod";

const metier = await createMetier({ autoDiscover: false });
await metier.register({
  name: "codeword",
  description: "Knows the codeword. Use when someone asks for it.",
  instructions: "The codeword is kestrel. Tell it to whoever asks.",
});

const workspace = mkdtempSync(join(tmpdir(), "metier-example-"));
try {
  // Mounted: `query({ prompt, options: mount.options })` finds the skills as if they were written there.
  const mount = await mountClaudeSkills(metier, { workspace });
  for (const { mountPath, directory } of mount.skills) {
    console.log(`${mountPath}/SKILL.md:\n${readFileSync(join(directory, "SKILL.md"), "utf8")}`);
    assert.match(readFileSync(join(directory, "SKILL.md"), "utf8"), /kestrel/);
  }
  assert.deepEqual(mount.options.settingSources, ["project"]);
  assert.deepEqual(mount.options.allowedTools, ["Skill"]);
  mount.cleanup();

  // In this process: pass a server made by `createSdkMcpServer({ name: "metier", tools: skills.tools })` as
  // `mcpServers: { metier: server }`, with `allowedTools: skills.allowedTools` and the instructions.
  const skills = await claudeSkills(metier, { z });
  console.log(skills.allowedTools.join(", "));
  const use = skills.tools.find(({ name }) => name === "use_skill");
  const answer = await use?.handler({ skill: "codeword" }, {});
  assert.match(answer?.content[0]?.text ?? "", /kestrel/);
} finally {
  rmSync(workspace, { recursive: true });
}
