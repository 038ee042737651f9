/** Registers a skill that exists only in this program, uses it, and removes it again. */
import assert from "node:assert/strict";
import { createMetier, SkillConflictError } from "metier";

const metier = await createMetier();

const greet = {
  name: "example-greet",
  description: "Greet someone by name. Use when a conversation begins.",
  instructions: "Say hello, once, in the language of the person.",
  "argument-hint": "[name]",
};
const skill = await metier.register(greet);
console.log(`${skill.name} is ${skill.status}, ${skill.trust.level}: ${skill.trust.reason}`);
assert.equal(skill.scope, "integration");
assert.equal(skill.manifest.argumentHint, "[name]");
assert.ok(metier.has("example-greet"));

// A name belongs to one skill per scope: a second one is refused, and nothing changes.
await assert.rejects(metier.register(greet), SkillConflictError);

await metier.deregister("example-greet");
assert.equal(metier.get("example-greet"), undefined);
