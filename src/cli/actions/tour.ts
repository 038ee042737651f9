/** `npm start`: Metier on its own bundled skills and a small project of its own making. Writes only a temporary folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../../foundation/errors.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, out } from "../context.ts";
import { styleFor } from "../output/style.ts";
import { run as doctor } from "./doctor.ts";
import { runFind as find } from "./find.ts";
import { run as list } from "./list.ts";
import { run as prompt } from "./prompt.ts";
import { run as validate } from "./validate.ts";

/** A project with what projects have: a good skill, a messy one, one that shadows a bundled skill, one that lacks a program. */
const PROJECT: Readonly<Record<string, string>> = {
  "changelog/SKILL.md": `---
name: changelog
description: Write the changelog entry for a change. Use when a pull request is about to be merged.
---

Read the diff, then write one line a user understands.
`,
  "Release Notes/SKILL.md": `---
description: Note: collects what changed since the last tag
version: 1.0
---

List what changed, most important first.
`,
  "summarize-text/SKILL.md": `---
name: summarize-text
description: A project's own way to summarize; untrusted, so it does not replace the bundled one.
---

Summarize in the house style.
`,
  "deploy/SKILL.md": `---
name: deploy
description: Deploy the service to the cluster.
requires:
  bins: [metier-tour-missing-program]
---

Deploy.
`,
};

export async function run(context: CliContext, flags: CommonFlags): Promise<void> {
  if (flags.json) throw new UsageError("The tour is for reading; it has no JSON form.");
  const folder = mkdtempSync(join(tmpdir(), "metier-tour-"));
  try {
    for (const [path, content] of Object.entries(PROJECT)) {
      const file = join(folder, "project", ".metier", "skills", path);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, content);
    }
    mkdirSync(join(folder, "home"));
    await show(context, { ...flags, home: join(folder, "home"), cwd: join(folder, "project") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function show(context: CliContext, flags: CommonFlags): Promise<void> {
  const quiet = { ...context, io: { ...context.io, interactive: false } };
  const step = (number: number, title: string, command: string): void =>
    out(context, `\n${styleFor(context.io.color).bold(`${number}. ${title}`)}\n   $ ${command}\n`);
  step(1, "What is there, who wins, what can be used", "metier list");
  await list(quiet, flags);
  step(2, "Why one of them cannot", "metier doctor deploy");
  await doctor(quiet, flags, "deploy");
  step(3, "What is wrong with a file, and what to do", 'metier validate ".metier/skills/Release Notes"');
  await validate(quiet, flags, ".metier/skills/Release Notes");
  step(4, "What a model is told, in 300 tokens", "metier prompt --format markdown --budget 300");
  await prompt(quiet, { ...flags, format: "markdown", activation: "tool", budget: "300" });
  step(5, "Which skill fits a request", "metier find -k 3 make this text shorter");
  await find(quiet, { ...flags, number: "3" }, "make this text shorter");
  out(context, "\nNext: `npx metier list` here, `npx metier --help`, and README.md.");
}
