/** `metier runs`: reports past runs from their logs. Needs no catalog, no model and no network. */
import { EXIT, MetierError, UsageError } from "@metier/base/errors";
import { metierPlaces, type Places } from "@metier/base/places";
import {
  countRuns,
  listRunIds,
  listRuns,
  type RemovedRuns,
  type RunSummary,
  readRunLog,
  removeOldRuns,
  removeRuns,
  runFolder,
  viewRun,
} from "@metier/run/events";
import type { Action } from "../commands/define.ts";
import type { RunsFlags } from "../commands/doing.ts";
import { type CliContext, endWith, err, reply, requireAction } from "../context.ts";
import { homeFolder } from "../open-metier.ts";
import { waitingText } from "../output/durable-text.ts";
import { runsText, runText, statsText } from "../output/run-text.ts";
import { count } from "../output/style.ts";
import { parseNumber } from "./run-request.ts";
import { exportRun, exportRunPage } from "./runs-export.ts";
import { forgetDurable, listDurableIds } from "./runs-forget.ts";
import { listWaiting } from "./runs-waiting.ts";

type RunsAction = (
  context: CliContext,
  flags: RunsFlags,
  places: Places,
  words: readonly string[],
) => void | Promise<void>;

const ACTIONS: Readonly<Record<string, RunsAction>> = {
  list,
  show,
  stats,
  export: exportOne,
  delete: remove,
  resume,
};

const DEFAULT_NUMBER = "20";

export const runsAction: Action<RunsFlags> = async (context, flags, ...words) => {
  const [name = "list", ...rest] = words;
  const act = requireAction("runs", ACTIONS, name, "list, show, stats, export, delete or resume");
  await act(context, flags, metierPlaces(homeFolder(context, flags), context.io.environment), rest);
};

async function resume(
  context: CliContext,
  flags: RunsFlags,
  _: Places,
  words: readonly string[],
): Promise<void> {
  const { resumeRun } = await import("./runs-resume.ts"); // The code that runs a skill is large.
  await resumeRun(context, flags, words);
}

async function list(
  context: CliContext,
  flags: RunsFlags,
  places: Places,
  words: readonly string[],
): Promise<void> {
  refuseWords("metier runs list", words);
  const most = parseNumber("--number", flags.number ?? DEFAULT_NUMBER, "runs");
  const all = wantedRuns(listRuns(places), flags);
  const shown = all.slice(0, most);
  const waiting = wantedRuns(await listWaiting(context, flags), flags);
  const states = new Map(waiting.map(({ runId, status }) => [runId, status]));
  const isNarrowed = (flags.skill ?? flags.since) !== undefined || flags.failed;
  const none = isNarrowed
    ? "No run matches. `metier runs` lists all runs."
    : "No runs yet. `metier run <skill>` starts one.";
  const value = { runs: shown, ...(waiting.length > 0 && { durable: waiting }) };
  reply(context, flags, value, (style) =>
    [
      ...(all.length === 0 && waiting.length > 0
        ? []
        : [all.length === 0 ? none : runsText(shown, style, states)]),
      ...(waiting.length > 0 ? [waitingText(waiting, style)] : []),
    ].join("\n\n"),
  );
  if (!flags.json && shown.length < all.length)
    err(context, `${count(all.length - shown.length, "older run")} not shown; \`--number\` shows more.`);
}

function stats(context: CliContext, flags: RunsFlags, places: Places, words: readonly string[]): void {
  refuseWords("metier runs stats", words);
  const skills = countRuns(wantedRuns(listRuns(places), flags));
  const none = "No runs yet, so there is nothing to count.";
  reply(context, flags, { skills }, (style) => (skills.length === 0 ? none : statsText(skills, style)));
}

function show(context: CliContext, flags: RunsFlags, places: Places, words: readonly string[]): void {
  const [wanted, ...more] = words;
  if (wanted === undefined || more.length > 0) throw new UsageError("Usage: `metier runs show ID`.");
  const runId = requireRun(places, wanted);
  const reading = readRunLog(runFolder(places, runId).log);
  if (!reading.ok)
    throw new MetierError("io.failed", reading.refusal.message, { hint: "`metier runs delete` removes it." });
  const { events, unknown, broken, torn } = reading.value;
  const view = { ...viewRun(events), runId };
  const log = { events: events.length, unknown, broken, torn };
  reply(context, flags, { ...view, log }, (style) => runText(view, style));
  if (flags.json) return;
  if (unknown > 0) err(context, `${count(unknown, "event")} from a newer version of Metier not shown.`);
  if (broken > 0) err(context, `${count(broken, "line")} of the log can't be read.`);
  if (torn) err(context, "The last line of the log was cut off.");
}

async function remove(
  context: CliContext,
  flags: RunsFlags,
  places: Places,
  words: readonly string[],
): Promise<void> {
  const { olderThan } = flags;
  if ((olderThan === undefined) === (words.length === 0)) {
    throw new UsageError("Usage: `metier runs delete ID…` or `metier runs delete --older-than AGE`.");
  }
  const durable = await listDurableIds(context, flags);
  const wanted = new Set(words.map((word) => requireRun(places, word, durable)));
  const age = olderThan === undefined ? undefined : parseAge(olderThan);
  // First, because another process may be advancing one of them.
  const recorded = durable.filter((runId) => wanted.has(runId));
  await forgetDurable(context, flags, recorded);
  const kept = new Set(listRunIds(places));
  const { removed: gone, diagnostics }: RemovedRuns =
    age === undefined
      ? removeRuns(
          places,
          [...wanted].filter((runId) => kept.has(runId)),
        )
      : removeOldRuns(places, age);
  if (age !== undefined)
    await forgetDurable(
      context,
      flags,
      durable.filter((runId) => gone.includes(runId)),
    );
  const removed = [...new Set([...gone, ...recorded])];
  if (diagnostics.length > 0) endWith(context, EXIT.failed);
  const none = "No runs removed.";
  const text = removed.length > 0 ? `Removed ${count(removed.length, "run")}: ${removed.join(", ")}` : none;
  reply(context, flags, { removed, diagnostics }, () => text, diagnostics);
}

async function exportOne(
  context: CliContext,
  flags: RunsFlags,
  places: Places,
  words: readonly string[],
): Promise<void> {
  const [wanted, ...more] = words;
  if (wanted === undefined || more.length > 0)
    throw new UsageError("Usage: `metier runs export ID [--html] [-o FILE]`.");
  const runId = requireRun(places, wanted);
  if (flags.html) await exportRunPage(context, flags, places, runId);
  else exportRun(context, flags, places, runId);
}

/** The states that options accept; a run that hasn't ended has none. */
type WantedFacts = Pick<RunSummary, "skill" | "startedAt"> & { readonly state?: RunSummary["state"] };

/** States of a run that failed without anyone wanting it. */
const FAILED: ReadonlySet<RunSummary["state"]> = new Set(["failed", "limited", "refused"]);

function wantedRuns<Run extends WantedFacts>(
  runs: readonly Run[],
  { skill, since, failed }: RunsFlags,
): readonly Run[] {
  const start = since === undefined ? undefined : parseSince(since);
  return runs.filter(
    (run) =>
      (skill === undefined || run.skill === skill) &&
      (start === undefined || Date.parse(run.startedAt) >= start) &&
      (!failed || (run.state !== undefined && FAILED.has(run.state))),
  );
}

/** The run whose id starts with this; must be unique. */
function requireRun(places: Places, wanted: string, durable: readonly string[] = []): string {
  const known = [...new Set([...listRunIds(places), ...durable])];
  const found = wanted === "" ? [] : known.filter((id) => id.startsWith(wanted));
  const [only, ...others] = found;
  if (only === undefined) {
    throw new MetierError("run.not_found", `No run has the id \`${wanted}\`.`, {
      hint: "`metier runs` lists all runs.",
    });
  }
  if (others.length > 0 && only !== wanted) {
    const some = found.slice(0, 5).join(", ");
    const more = found.length > 5 ? ", …" : "";
    const message = `\`${wanted}\` matches ${found.length} ids: ${some}${more}.`;
    throw new UsageError(message, { hint: "Type more of the id." });
  }
  return only;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function parseAge(text: string): number {
  const age = readAge(text);
  if (age !== undefined) return age;
  throw new UsageError(`\`--older-than ${text}\` is not an age.`, {
    hint: "Use minutes, hours, days or weeks: 90m, 12h, 30d, 4w.",
  });
}

function readAge(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit] ?? 0);
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** An age before now, or a date: a day starts at local midnight. */
function parseSince(text: string): number {
  const age = readAge(text);
  if (age !== undefined) return Date.now() - age;
  // Without a time, `Date` would start the day in UTC. It would also turn February 30 into a day in March.
  const time = DATE.test(text) ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : Number.NaN;
  const day = new Date(`${text.slice(0, 10)}T00:00Z`);
  if (!Number.isNaN(time) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10)))
    return time;
  throw new UsageError(`\`--since ${text}\` is not an age or a date.`, {
    hint: "Use an age (90m, 12h, 7d, 4w) or a date (2026-03-01, 2026-03-01T14:30).",
  });
}

function refuseWords(usage: string, words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`Usage: \`${usage}\`.`);
}
