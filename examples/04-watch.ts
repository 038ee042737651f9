/** Watches a folder of skills, adds a skill to it, and ends when the new snapshot contains it. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetier } from "metier";

const folder = mkdtempSync(join(tmpdir(), "metier-example-"));
const metier = await createMetier({ paths: [folder] });
const before = metier.catalog;

const changed = Promise.withResolvers<void>();
const stop = metier.watch((outcome) => {
  if ("fault" in outcome) changed.reject(outcome.fault);
  else if (outcome.catalog.has("custom:example-greet")) changed.resolve();
});
try {
  mkdirSync(join(folder, "example-greet"));
  writeFileSync(
    join(folder, "example-greet", "SKILL.md"),
    "---\nname: example-greet\ndescription: Greet someone by name.\n---\n\nSay hello, once.\n",
  );
  await changed.promise;
} finally {
  stop();
  rmSync(folder, { recursive: true });
}

console.log("new:", metier.require("custom:example-greet").description);
assert.ok(metier.has("custom:example-greet"));
assert.ok(!before.has("custom:example-greet"), "a snapshot never changes");
