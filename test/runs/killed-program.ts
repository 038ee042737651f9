/** A program of its own that runs the skill `long` and tells of each event, to be killed from outside: `kill.test.ts`. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createMetier } from "metier";

const [root = ""] = process.argv.slice(2);
const metier = await createMetier({ home: join(root, "home"), cwd: join(root, "project") });
await metier.run({
  skill: "long",
  approve: "all",
  record: join(root, "recording.jsonl"),
  limits: { maxIterations: 1000 },
  // Written at once: what was told has happened, whenever the kill comes.
  onEvent: ({ type }) => writeSync(1, `${type}\n`),
});
