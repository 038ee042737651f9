/** Checks a folder with a sound and a messy skill, and prints the problems and how to fix them. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetier } from "metier";

const folder = mkdtempSync(join(tmpdir(), "metier-example-"));
try {
  writeSkill("greet", "name: greet\ndescription: Greet someone by name. Use when a conversation begins.");
  writeSkill("messy", "name: Messy Skill\ndescription: Note: has a colon that YAML does not like");

  const metier = await createMetier({ autoDiscover: false });
  const standard = await metier.validate(folder);
  for (const { name, valid, diagnostics } of standard.results) {
    console.log(`${name}: ${valid ? "valid" : "not valid"}`);
    for (const { line, severity, code, message, hint } of diagnostics) {
      console.log(`  line ${line}, ${severity} ${code}: ${message} ${hint ?? ""}`);
    }
  }
  const strict = await metier.validate(folder, "strict");

  assert.deepEqual(
    standard.results.map(({ name, valid }) => [name, valid]),
    [
      ["greet", true],
      ["messy-skill", true],
    ],
  );
  assert.equal(strict.valid, false);
  assert.ok(strict.results[1]?.diagnostics.some(({ code }) => code === "yaml.repaired"));
} finally {
  rmSync(folder, { recursive: true });
}

function writeSkill(name: string, frontmatter: string): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "SKILL.md"), `---\n${frontmatter}\n---\n\nSay hello, once.\n`);
}
