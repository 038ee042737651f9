/** `npm start`: Metier on its own bundled skills and a small project of its own making, in a temporary folder. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../../foundation/errors.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, out } from "../context.ts";
import { styleFor } from "../output/style.ts";
import { writeTourProject } from "../tour/project.ts";
import { prepareTask, TOUR_SKILL, TOUR_TASK } from "../tour/task.ts";
import { run as doctor } from "./doctor.ts";
import { runFind as find } from "./find.ts";
import { run as list } from "./list.ts";
import { run as prompt } from "./prompt.ts";
import { run as runSkill } from "./run.ts";
import { run as validate } from "./validate.ts";

export async function run(context: CliContext, flags: CommonFlags): Promise<void> {
  if (flags.json) throw new UsageError("The tour is for reading; it has no JSON form.");
  const folder = mkdtempSync(join(tmpdir(), "metier-tour-"));
  try {
    const [home, cwd] = [join(folder, "home"), join(folder, "project")];
    mkdirSync(home);
    mkdirSync(cwd);
    writeTourProject(cwd);
    await show(context, { ...flags, home, cwd }, flags);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function show(context: CliContext, flags: CommonFlags, own: CommonFlags): Promise<void> {
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
  const task = await prepareTask(context, flags, own);
  step(6, `A skill run in isolation${task.note}`, task.command);
  const last = { ...quiet };
  await runSkill(last, task.flags, TOUR_SKILL, TOUR_TASK);
  endWith(context, last.code); // What the steps before show is also what is wrong; this one has to work.
  out(context, "\nNext: `npx metier list` here, `npx metier --help`, and README.md.");
}
