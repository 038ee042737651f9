/** `metier runs resume`: continues a durable run in the folder where it was started, from any folder. */
import { statSync } from "node:fs";
import { MetierError, UsageError } from "@metier/base/errors";
import { metierPlaces } from "@metier/base/places";
import { safeLine } from "@metier/base/text";
import { type DurableRun, ENDED, TERMINAL_TENANT } from "@metier/durable";
import { listRunIds } from "@metier/run/events";
import type { CommonFlags } from "../commands/define.ts";
import type { RunsFlags } from "../commands/doing.ts";
import { type CliContext, err } from "../context.ts";
import { homeFolder, openMetier } from "../open-metier.ts";
import { openSession } from "./durable-session.ts";
import { tellEnd } from "./run-durable.ts";
import { openDurably, readDurableRuns, readTerminalPlace, type TerminalPlace } from "./terminal-runs.ts";

export async function resumeRun(
  context: CliContext,
  flags: RunsFlags,
  words: readonly string[],
): Promise<void> {
  const [wanted, ...more] = words;
  if (wanted === undefined || wanted === "" || more.length > 0) {
    throw new UsageError("Usage: `metier runs resume ID`.", { hint: "`metier runs` lists runs that wait." });
  }
  const run = await requireDurable(context, flags, wanted);
  const place = requirePlace(run);
  const places = metierPlaces(homeFolder(context, flags), context.io.environment);
  if (ENDED.has(run.status)) {
    if (!flags.json) err(context, `Run ${run.id} has ended: ${run.status}.`);
    const ended = { run, questions: [], isInterrupted: false, isShown: false };
    tellEnd(context, flags, { places }, ended, undefined);
    return;
  }
  const local = await openDurably(context, flags, run.id);
  try {
    const session = openSession(context, { ...flags, events: false, quiet: false }, local);
    const metier = await openMetier(context, flagsAt(flags, place), session.options);
    try {
      if (!flags.json) err(context, `Continuing run ${run.id} of \`${safeLine(run.skill ?? "")}\`.`);
      tellEnd(context, flags, metier, await session.goOn(metier, run.id), place.out);
    } finally {
      await metier.capabilities.close();
    }
  } finally {
    await local.close();
  }
}

/** Most recorded runs were started long ago. */
const MOST_RUNS = 10_000;

/** Finds a run by its id or a unique prefix of it. */
async function requireDurable(context: CliContext, flags: RunsFlags, wanted: string): Promise<DurableRun> {
  const found = await readDurableRuns(context, flags, async (journal) => {
    const exact = await journal.get(wanted);
    if (exact) return [exact];
    const filter = { tenant: TERMINAL_TENANT, isRoot: true, limit: MOST_RUNS };
    return (await journal.list(filter)).filter(({ id }) => id.startsWith(wanted));
  });
  const [run, ...others] = found ?? [];
  if (run === undefined) throw notDurable(context, flags, wanted);
  if (others.length > 0) {
    const ids = [run, ...others].slice(0, 5).map(({ id }) => id);
    throw new UsageError(`\`${wanted}\` matches ${others.length + 1} ids: ${ids.join(", ")}.`, {
      hint: "Type more of the id.",
    });
  }
  if (run.tenant !== TERMINAL_TENANT) {
    throw new UsageError(`Run \`${run.id}\` belongs to the service and continues there.`, {
      hint: "Start `metier serve`, and answer its questions over the API.",
    });
  }
  if (run.parentId !== undefined) {
    throw new UsageError(`Run \`${run.id}\` was started by run \`${run.rootId}\` and continues with it.`, {
      hint: `Use \`metier runs resume ${run.rootId}\`.`,
    });
  }
  return run;
}

function notDurable(context: CliContext, flags: RunsFlags, wanted: string): MetierError {
  const places = metierPlaces(homeFolder(context, flags), context.io.environment);
  const plain = listRunIds(places).find((id) => id.startsWith(wanted));
  if (plain === undefined) {
    return new MetierError("run.not_found", `No durable run has the id \`${safeLine(wanted)}\`.`, {
      hint: "`metier runs` lists runs that wait.",
    });
  }
  return new MetierError("run.not_found", `Run \`${plain}\` can't be resumed: it isn't durable.`, {
    hint: "Only runs started with `metier run --durable` can be resumed.",
  });
}

function requirePlace(run: DurableRun): TerminalPlace {
  const place = readTerminalPlace(run);
  if (place === undefined) {
    throw new UsageError(`This version of Metier can't read where run \`${run.id}\` was started.`, {
      hint: "Use the version of Metier that started it, or a newer one.",
    });
  }
  if (!ENDED.has(run.status) && !statSync(place.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`Run \`${run.id}\` works in \`${safeLine(place.cwd)}\`, which no longer exists.`, {
      hint: "Restore the folder, then resume the run.",
    });
  }
  return place;
}

/** As if the command had been typed where the run was started. */
function flagsAt({ home, json }: CommonFlags, place: TerminalPlace): CommonFlags {
  const { cwd, config, preset, profile, paths } = place;
  return { home, json, cwd, config, preset, profile, path: paths };
}
