/** `metier runs`: what was run, from the logs alone. Needs no catalog, no model and no network. */
import { listRunIds, listRuns, type RunSummary } from "../../events/list-runs.ts";
import { readRunLog } from "../../events/read-log.ts";
import { type RemovedRuns, removeOldRuns, removeRuns } from "../../events/remove-runs.ts";
import { runFolder } from "../../events/run-log.ts";
import { countRuns } from "../../events/run-stats.ts";
import { viewRun } from "../../events/run-view.ts";
import { MetierError, UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import { metierPlaces, type Places } from "../../host/places.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { homeFolder } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { runsText, runText, statsText } from "../output/run-text.ts";
import { count, styleFor } from "../output/style.ts";

interface RunsFlags {
  readonly skill?: string;
  readonly number?: string;
  readonly olderThan?: string;
}

type Flags = RunsFlags & CommonFlags;
type Action = (context: CliContext, flags: Flags, places: Places, words: readonly string[]) => void;

const ACTIONS: Readonly<Record<string, Action>> = { list, show, stats, delete: remove };

const DEFAULT_NUMBER = "20";

export async function run(context: CliContext, flags: Flags, ...words: readonly string[]): Promise<void> {
  const [name = "list", ...rest] = words;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new UsageError(`\`${name}\` is no action of \`metier runs\`.`, {
      hint: "Use list, show ID, stats or delete ID.",
    });
  }
  const home = homeFolder(context, flags);
  action(context, flags, metierPlaces(home, context.io.environment), rest);
}

function list(context: CliContext, flags: Flags, places: Places, words: readonly string[]): void {
  refuseWords("metier runs list", words);
  const most = parseNumber(flags.number ?? DEFAULT_NUMBER);
  const all = ofSkill(listRuns(places), flags.skill);
  const shown = all.slice(0, most);
  if (flags.json) outJson(context, { runs: shown });
  else if (all.length === 0) out(context, "No run is kept; `metier run <skill>` makes one.");
  else {
    out(context, runsText(shown, styleFor(context.io.color)));
    if (shown.length < all.length)
      err(context, `${count(all.length - shown.length, "older run")}: \`--number\` shows more.`);
  }
}

function stats(context: CliContext, flags: Flags, places: Places, words: readonly string[]): void {
  refuseWords("metier runs stats", words);
  const skills = countRuns(ofSkill(listRuns(places), flags.skill));
  if (flags.json) outJson(context, { skills });
  else if (skills.length === 0) out(context, "No run is kept, so there is nothing to count.");
  else out(context, statsText(skills, styleFor(context.io.color)));
}

function show(context: CliContext, flags: Flags, places: Places, words: readonly string[]): void {
  const [wanted, ...more] = words;
  if (wanted === undefined || more.length > 0) throw new UsageError("Usage: `metier runs show ID`.");
  const runId = requireRun(places, wanted);
  const reading = readRunLog(runFolder(places, runId).log);
  if (!reading.ok)
    throw new MetierError("io.failed", reading.message, { hint: "`metier runs delete` removes it." });
  const { events, unknown, broken, torn } = reading;
  const view = { ...viewRun(events), runId };
  if (flags.json) {
    outJson(context, { ...view, log: { events: events.length, unknown, broken, torn } });
    return;
  }
  out(context, runText(view, styleFor(context.io.color)));
  if (unknown > 0) err(context, `${count(unknown, "event")} of a newer version of Metier are not shown.`);
  if (broken > 0) err(context, `${count(broken, "line")} of the log cannot be read.`);
  if (torn) err(context, "The last line of the log was cut off.");
}

function remove(context: CliContext, flags: Flags, places: Places, words: readonly string[]): void {
  const { removed, diagnostics } = removeWanted(places, flags.olderThan, words);
  if (diagnostics.length > 0) endWith(context, EXIT.failed);
  if (flags.json) {
    outJson(context, { removed, diagnostics });
    return;
  }
  const style = styleFor(context.io.color);
  out(
    context,
    removed.length > 0
      ? `Removed ${count(removed.length, "run")}: ${removed.join(", ")}`
      : "No run was removed.",
  );
  err(context, diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
}

function removeWanted(places: Places, olderThan: string | undefined, words: readonly string[]): RemovedRuns {
  if ((olderThan === undefined) === (words.length === 0)) {
    throw new UsageError("Usage: `metier runs delete ID…` or `metier runs delete --older-than AGE`.");
  }
  if (olderThan !== undefined) return removeOldRuns(places, parseAge(olderThan));
  return removeRuns(places, [...new Set(words.map((word) => requireRun(places, word)))]);
}

function ofSkill(runs: readonly RunSummary[], skill: string | undefined): readonly RunSummary[] {
  return skill === undefined ? runs : runs.filter((run) => run.skill === skill);
}

/** The run whose id begins so; only one may. */
function requireRun(places: Places, wanted: string): string {
  const found = wanted === "" ? [] : listRunIds(places).filter((id) => id.startsWith(wanted));
  const [only, ...others] = found;
  if (only === undefined) {
    throw new MetierError("run.not_found", `No run has the id \`${wanted}\`.`, {
      hint: "`metier runs` lists those that are kept.",
    });
  }
  if (others.length > 0 && only !== wanted) {
    const some = found.slice(0, 5).join(", ");
    throw new UsageError(
      `\`${wanted}\` is the beginning of ${found.length} ids: ${some}${found.length > 5 ? ", …" : ""}.`,
      {
        hint: "Give more of the id.",
      },
    );
  }
  return only;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function parseAge(text: string): number {
  const [, number, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (number !== undefined) return Number(number) * (UNITS[unit] ?? 0);
  throw new UsageError(`\`--older-than ${text}\` is no age.`, {
    hint: "Use a number of minutes, hours, days or weeks: 90m, 12h, 30d, 4w.",
  });
}

function parseNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`\`--number ${text}\` is not a number of runs.`, {
    hint: "Use a whole number from 1.",
  });
}

function refuseWords(usage: string, words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`Usage: \`${usage}\`.`);
}
