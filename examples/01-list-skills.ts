/** Lists the skills you can use here, and says why you can't use the others. */
import assert from "node:assert/strict";
import { createMetier } from "metier";

const metier = await createMetier({ bundled: true });

for (const { name, scope, trust, description } of metier.list()) {
  console.log(`${name} (${scope}, ${trust.level}): ${description}`);
}
for (const { name, status, reason } of metier.catalog.all) {
  if (status !== "enabled") console.log(`${name} is ${status}: ${reason}`);
}
for (const { severity, path, line, message } of metier.diagnostics()) {
  console.log(`${path}:${line ?? 1} ${severity}: ${message}`);
}

const skill = metier.require("bundled:summarize-text");
assert.equal(skill.name, "summarize-text");
assert.equal(skill.trust.level, "trusted");
