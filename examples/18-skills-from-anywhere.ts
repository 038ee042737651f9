/**
 * Skills without a folder: one written in this program, with files, and some from a database that changes meanwhile.
 */
import assert from "node:assert/strict";
import { createMetier, defineSkill, type SkillSource } from "metier";

// A mistyped field (`contxt`) doesn't compile; in JavaScript it throws and suggests a name.
const review = defineSkill({
  name: "review-contract",
  description: "Review a contract for risks. Use when someone shares a contract.",
  instructions: "Compare the contract with `references/rules.md`, point by point.",
  argumentHint: "[file]",
  files: { "references/rules.md": "1. Payment within 30 days.\n" },
});

const text = (name: string, does: string): string =>
  `---\nname: ${name}\ndescription: ${does}\n---\n\n${does} Run \`scripts/rate.sh\` first.\n`;
const rows = new Map([
  [
    "quote-price",
    {
      etag: "1",
      files: { "SKILL.md": text("quote-price", "Quote a price."), "scripts/rate.sh": "echo 7\n" },
    },
  ],
]);
let tell = (): void => undefined;
const database: SkillSource = {
  name: "database",
  trust: "trusted", // Without it, its skills are untrusted, like those of a folder in `paths`.
  list: async () =>
    [...rows].map(([id, { etag, files }]) => ({ id, version: etag, files: Object.keys(files) })),
  read: async (id, path) => new Map(Object.entries(rows.get(id)?.files ?? {})).get(path) ?? "",
  watch(onChange) {
    tell = onChange;
    return () => undefined;
  },
};

const metier = await createMetier({ integrations: [review], sources: [database] });
console.log(metier.readResource("review-contract", "references/rules.md").text);

const { stdout } = await metier.script({ skill: "quote-price", script: "scripts/rate.sh" });
assert.equal(stdout.trim(), "7");
console.log(metier.require("quote-price").source);

// The database changes; skills with the same version aren't read again.
const changed = new Promise<readonly string[]>((resolve) => {
  const stop = metier.watch((outcome) => {
    stop();
    resolve("catalog" in outcome ? outcome.catalog.names() : []);
  });
});
rows.set("plan-trip", {
  etag: "1",
  files: { "SKILL.md": text("plan-trip", "Plan a trip."), "scripts/rate.sh": "" },
});
tell();
assert.deepEqual(await changed, ["plan-trip", "quote-price", "review-contract"]);
