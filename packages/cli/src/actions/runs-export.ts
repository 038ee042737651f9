/**
 * `metier runs export`: writes the events of a run, and of the runs it started, to one file that `metier run --replay`
 * reads. The events are the log's own lines, already free of secrets. With `--html`, writes a page that needs no
 * server.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { MetierError, UsageError } from "@metier/base/errors";
import type { Places } from "@metier/base/places";
import { safeLine } from "@metier/base/text";
import { listRunIds, type RunEvent, readRunLog, runFolder } from "@metier/run/events";
import type { RunsFlags } from "../commands/doing.ts";
import { type CliContext, err, out, outJson, reply } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import { count } from "../output/style.ts";

export function exportRun(context: CliContext, flags: RunsFlags, places: Places, runId: string): void {
  const { events, lost } = collectEvents(places, runId);
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  if (flags.output === undefined || flags.output === "-") {
    if (flags.json) outJson(context, { runId, events, lost });
    else out(context, lines);
  } else {
    const file = resolve(workingDirectory(context, flags), flags.output);
    writeNew(file, lines);
    reply(context, flags, { runId, file, events: events.length, lost }, () =>
      safeLine(`Wrote ${count(events.length, "event")} to ${file}`),
    );
  }
  if (lost > 0 && !flags.json)
    err(context, `Left out ${count(lost, "line")} of the log that this version of Metier can't read.`);
}

/** The inspector's own view of the run, with the answers its API would give. */
export async function exportRunPage(
  context: CliContext,
  flags: RunsFlags,
  places: Places,
  runId: string,
): Promise<void> {
  const [{ exportKeptRun }, { exportPage }] = await Promise.all([
    import("@metier/service"),
    import("@metier/inspector"),
  ]);
  const view = await exportKeptRun(places, runId);
  if (view === undefined)
    throw new MetierError("io.failed", `Can't read the log of run \`${runId}\`.`, {
      hint: "`metier runs delete` removes it.",
    });
  const page = exportPage(view);
  if (flags.output === undefined || flags.output === "-") {
    if (flags.json) outJson(context, { runId, html: page });
    else out(context, page);
    return;
  }
  const file = resolve(workingDirectory(context, flags), flags.output);
  writeNew(file, page);
  reply(context, flags, { runId, file }, () => safeLine(`Wrote ${file}. Open it in a browser.`));
}

interface CollectedEvents {
  readonly events: readonly RunEvent[];
  /** Lines that aren't events, or events from a newer version. */
  readonly lost: number;
}

/** The run's own events come first: a replay starts with them and looks for nested runs after them. */
function collectEvents(places: Places, runId: string): CollectedEvents {
  const kept = new Set(listRunIds(places));
  const events: RunEvent[] = [];
  let lost = 0;
  const wanted = [runId];
  for (const id of wanted) {
    const reading = readRunLog(runFolder(places, id).log);
    if (!reading.ok) {
      if (id !== runId) continue; // A nested run that is no longer kept.
      const hint = "`metier runs delete` removes it.";
      throw new MetierError("io.failed", reading.refusal.message, { hint });
    }
    const { events: own, unknown, broken, torn } = reading.value;
    lost += unknown + broken + (torn ? 1 : 0);
    events.push(...own);
    const children = own.flatMap((event) => (event.type === "child-started" ? [event.childRunId] : []));
    wanted.push(...children.filter((child) => kept.has(child) && !wanted.includes(child)));
  }
  return { events, lost };
}

/** Readable only by its owner, like the log; never overwrites a file. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "EEXIST") throw fault;
    throw new UsageError(`\`${file}\` already exists.`, { hint: "Choose another name, or delete it first." });
  }
}
