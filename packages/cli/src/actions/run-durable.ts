/** `metier run --durable`: records the run first; then this process advances it, as any later one could. */
import { resolve } from "node:path";
import { EXIT, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { ENDED, TERMINAL_TENANT } from "@metier/durable";
import { type RunOrder, type RunRequest, type RunResult, writeOrder } from "@metier/run";
import { createRunId } from "@metier/run/events";
import type { Metier } from "@metier/runtime";
import type { RunFlags } from "../commands/doing.ts";
import { type CliContext, endWith, err, reply } from "../context.ts";
import { askForTrust, readCaller, workingDirectory } from "../open-metier.ts";
import { questionLine } from "../output/durable-text.ts";
import { openSession, type SessionEnd } from "./durable-session.ts";
import { type EndingFlags, finishWithFiles } from "./run-ending.ts";
import { outFolder } from "./run-request.ts";
import { openSkill, tellTrust } from "./skill-path.ts";
import { openDurably, type TerminalPlace } from "./terminal-runs.ts";

/** Options whose values would have to be stored, or that belong to one process. */
const NOT_KEPT = [
  ["record", "record", "Use `metier runs export` to write its events to a file once it has ended."],
  ["replay", "replay", "Run the replay without `--durable`: it costs nothing and asks nobody."],
  [
    "variables",
    "variables",
    'Its values would be stored with the run. Put them in your config under `[skills."<skill>"]`.',
  ],
  [
    "envFile",
    "env-file",
    'Its values would be stored with the run. Put them in your config under `[skills."<skill>"]`.',
  ],
] as const satisfies readonly (readonly [keyof RunFlags, string, string])[];

/** `told`: what the command line says about the run. */
export async function startDurably(
  context: CliContext,
  flags: RunFlags,
  word: string,
  told: Omit<RunRequest, "skill">,
): Promise<void> {
  for (const [flag, name, hint] of NOT_KEPT) {
    if (flags[flag] !== undefined) {
      throw new UsageError(`\`--${name}\` can't be used with \`--durable\`.`, { hint });
    }
  }
  const runId = createRunId();
  const local = await openDurably(context, flags, runId);
  try {
    const session = openSession(context, { ...flags, approve: false }, local);
    const opened = await openSkill(context, flags, word, session.options);
    tellTrust(context, flags, opened);
    const metier = await askForTrust(context, flags, opened.metier);
    try {
      const { message, context: background, arguments: line, input, model, limits, write } = told;
      const caller = readCaller(flags);
      const order = writeOrder({
        skill: opened.address,
        source: "user",
        caller,
        approve: flags.approve ? "allow" : "ask",
        ...presentFields({ message, context: background, arguments: line, input, limits, write }),
        ...(typeof model === "string" && { model }),
      } satisfies RunOrder);
      const place = { ...placeOf(context, flags), paths: opened.paths };
      const skill = metier.get(opened.address)?.name ?? opened.address;
      await local.journal.create({
        id: runId,
        tenant: TERMINAL_TENANT,
        userId: caller.userId,
        skill,
        order: { ...order, terminal: presentFields(place) },
      });
      await local.engine.enqueue(runId, { tenant: TERMINAL_TENANT });
      tellEnd(context, flags, metier, await session.goOn(metier, runId), place.out);
    } finally {
      await metier.capabilities.close();
    }
  } finally {
    await local.close();
  }
}

function placeOf(context: CliContext, flags: RunFlags): TerminalPlace {
  const cwd = workingDirectory(context, flags);
  return {
    cwd,
    config: flags.config === undefined ? undefined : resolve(cwd, flags.config),
    preset: flags.preset,
    profile: flags.profile,
    out: outFolder(context, flags),
  };
}

/** The result of a run that has ended; otherwise its state, and how to continue it. */
export function tellEnd(
  context: CliContext,
  flags: EndingFlags,
  { places }: Pick<Metier, "places">,
  { run, questions, isInterrupted, isShown }: SessionEnd,
  target: string | undefined,
): void {
  const { id: runId, skill = "", status } = run;
  if (ENDED.has(status)) {
    finishWithFiles(context, flags, places, target, {
      result: run.result as unknown as RunResult,
      isShown,
    });
    return;
  }
  endWith(context, isInterrupted ? EXIT.cancelled : EXIT.refused);
  const open = questions.map(({ id, kind, body }) => ({ id, kind, ...body }));
  reply(context, flags, { runId, skill, status, questions: open }, () => "");
  if (flags.json) return;
  for (const question of questions) err(context, `Waiting for an answer: ${questionLine(question)}`);
  if (isInterrupted) err(context, "The run was interrupted.");
  err(context, `The run is saved. Continue it with: metier runs resume ${runId}`);
}
