/** `npm start`: shows Metier on its bundled skills and a small sample project in a temporary folder. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { UsageError } from "@metier/base/errors";
import { packageFolder } from "@metier/base/files";
import { metierPlaces } from "@metier/base/places";
import { chooseSandbox, type Sandbox } from "@metier/sandbox";
import type { Action, CommonFlags } from "../commands/define.ts";
import type { RunFlags } from "../commands/doing.ts";
import { type CliContext, endWith, out } from "../context.ts";
import { homeFolder, openMetier } from "../open-metier.ts";
import { styleFor } from "../output/style.ts";
import { doctorAction } from "./doctor.ts";
import { listAction } from "./list.ts";
import { runAction } from "./run.ts";
import { validateAction } from "./validate.ts";

export const tourAction: Action = async (context, flags) => {
  if (flags.json) throw new UsageError("The tour has no JSON output.");
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
};

/** The flags that `metier validate` expects. */
const VALIDATE = { strict: false, format: "text", fix: false, watch: false } as const;

async function show(context: CliContext, flags: CommonFlags, own: CommonFlags): Promise<void> {
  const quiet = { ...context, io: { ...context.io, interactive: false } };
  const step = (number: number, title: string, command: string): void =>
    out(context, `\n${styleFor(context.io.color).bold(`${number}. ${title}`)}\n   $ ${command}\n`);
  step(1, "List a project's skills and see which ones work", "metier list --scope project");
  await listAction(quiet, { ...flags, usable: false, scope: "project" });
  step(2, "Ask why one of them doesn't", "metier doctor deploy");
  await doctorAction(quiet, flags, "deploy");
  step(3, "Check a skill file and get the fixes", 'metier validate ".metier/skills/Release Notes"');
  await validateAction(quiet, { ...flags, ...VALIDATE }, ".metier/skills/Release Notes");
  const task = await prepareTask(context, flags, own);
  step(4, `Run a skill in isolation${task.note}`, task.command);
  const last = { ...quiet };
  await runAction(last, task.flags, TOUR_SKILL, TOUR_TASK);
  keepRuns(context, task.flags, own);
  endWith(context, last.code); // The steps before may end with problems, since they show some; this one has to work.
  out(
    context,
    "\nNext: `npx metier --help`, README.md, or `npx metier inspect` to see this run and all skills in your browser.",
  );
}

/** Deletes the tour's folders but keeps its run, so that the user can look at it later. */
function keepRuns(context: CliContext, flags: CommonFlags, own: CommonFlags): void {
  const placesOf = (home: string | undefined) => metierPlaces(home, context.io.environment);
  const [from, to] = [placesOf(homeFolder(context, flags)), placesOf(homeFolder(context, own))];
  if (from.runs === to.runs || !existsSync(from.runs)) return;
  try {
    mkdirSync(to.runs, { recursive: true, mode: 0o700 });
    cpSync(from.runs, to.runs, { recursive: true });
  } catch {
    // The home folder isn't writable; the tour was shown anyway.
  }
}

export const TOUR_SKILL = "summarize-text";
export const NOTES_FILE = "meeting-notes.md";
export const TOUR_TASK = `Summarize ${NOTES_FILE} in three lines, and say how many words it has.`;

interface TourTask {
  readonly flags: RunFlags;
  /** The task as a person would type it. */
  readonly command: string;
  /** Which model answers. */
  readonly note: string;
}

/**
 * The run at the end: live if the user has a model; otherwise a recorded model is replayed, while loop, tools and
 * sandbox are real. `flags` point to the temporary folders, `own` to the user's, whose config may name a model.
 */
async function prepareTask(context: CliContext, flags: CommonFlags, own: CommonFlags): Promise<TourTask> {
  const base = {
    approve: true,
    write: false,
    dryRun: false,
    events: false,
    quiet: false,
    durable: false,
  } as const;
  const live = { ...flags, home: own.home };
  const metier = await openMetier(context, live);
  const planned = await metier.plan({ skill: TOUR_SKILL, source: "user" });
  const command = `metier run ${TOUR_SKILL} "${TOUR_TASK}" --approve`;
  if (planned.ok) return { flags: { ...live, ...base }, command, note: `, by ${planned.outline.model}` };
  const { environment } = context.io;
  const { sandbox } = await chooseSandbox({ backend: "auto", trust: "trusted", environment });
  const name = sandbox ? "tour" : "tour-without-sandbox";
  const replay = join(packageFolder() ?? "", "recordings", `${name}.jsonl`);
  return {
    flags: { ...flags, ...base, replay },
    command: `${command} --replay recordings/${name}.jsonl`,
    note: ` (no model is configured, so this replays a recorded one; ${describeReal(sandbox)})`,
  };
}

function describeReal(sandbox: Sandbox | undefined): string {
  if (!sandbox) return "loop and tools are real; no sandbox works here";
  if (!sandbox.runsPrograms) return "loop and tools are real; commands run in an interpreted shell";
  return "loop, tools and sandbox are real";
}

/** A typical project: a good skill, a messy one, one that shadows a bundled skill, and one that lacks a program. */
const SKILLS: Readonly<Record<string, string>> = {
  "changelog/SKILL.md": `---
name: changelog
description: Write the changelog entry for a change. Use when a pull request is about to be merged.
---

Read the diff, then write one line a user understands.
`,
  "Release Notes/SKILL.md": `---
description: Note: collects what changed since the last tag
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

const NOTES = `# Release meeting, Tuesday

Present: Ada, Jun, Sol.

- Version 2.4 ships on Thursday if the migration test passes on the copy of production; Jun runs it tonight.
- The new export is slower than the old one for files above 2 GB (41 s against 12 s). Sol thinks it is the checksum,
  and will measure. It does not block the release.
- The documentation of the export is missing. Ada writes it before Thursday.
- Open: whether 2.3 still gets fixes. To be decided next week.
`;

/** Writes it into `folder`, which exists. */
export function writeTourProject(folder: string): void {
  for (const [path, content] of Object.entries(SKILLS)) {
    const file = join(folder, ".metier", "skills", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  writeFileSync(join(folder, NOTES_FILE), NOTES);
}
