/**
 * The run at the end of the tour. With a model of the user's it is a live one; without, a recorded model is replayed,
 * while loop, tools and sandbox are the real ones.
 */
import { join } from "node:path";
import { packageFolder } from "../../host/package-folder.ts";
import { chooseSandbox } from "../../sandbox/choose-sandbox.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { CommonFlags } from "../common-flags.ts";
import type { CliContext } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import type { RunFlags } from "../run/run-flags.ts";
import { NOTES_FILE } from "./project.ts";

export const TOUR_SKILL = "summarize-text";
export const TOUR_TASK = `Summarize ${NOTES_FILE} in three lines, and say how many words it has.`;

export interface TourTask {
  readonly flags: RunFlags;
  /** The same as a person would type it. */
  readonly command: string;
  /** Which model answers. */
  readonly note: string;
}

/** `flags` are those of the temporary folders, `own` those of the user, whose config may name a model. */
export async function prepareTask(
  context: CliContext,
  flags: CommonFlags,
  own: CommonFlags,
): Promise<TourTask> {
  const base = { approve: true, write: false, dryRun: false, events: false } as const;
  const { cwd, home: _temporary, ...rest } = flags;
  const live = {
    ...rest,
    ...(cwd !== undefined && { cwd }),
    ...(own.home !== undefined && { home: own.home }),
  };
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
    note: ` (no model is configured: a recorded one is replayed; ${describeReal(sandbox)})`,
  };
}

function describeReal(sandbox: Sandbox | undefined): string {
  if (!sandbox) return "loop and tools are real, there is no sandbox here";
  if (!sandbox.runsPrograms) return "loop and tools are real, commands run in an interpreted shell";
  return "loop, tools and sandbox are real";
}
