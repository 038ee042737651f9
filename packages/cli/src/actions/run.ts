/** `metier run`: one skill, one isolated run. The result goes to stdout, progress to stderr. */
import { UsageError } from "@metier/base/errors";
import type { RunRequest } from "@metier/run";
import type { Metier, PlannedRun } from "@metier/runtime";
import type { Action } from "../commands/define.ts";
import type { RunFlags } from "../commands/doing.ts";
import { type CliContext, listenTwice, out, reply, STOPPING } from "../context.ts";
import { askForTrust, readCaller, workingDirectory } from "../open-metier.ts";
import { planText } from "../output/run-progress.ts";
import { openRunScreen } from "../output/run-screen.ts";
import { readMessageInput } from "./message-input.ts";
import { type EndedRun, finishRun, finishWithFiles } from "./run-ending.ts";
import { outFolder, questionsFor, readRunFlags } from "./run-request.ts";
import { openSkill, tellTrust } from "./skill-path.ts";

export const runAction: Action<RunFlags> = async (context, flags, ...words) => {
  const [word = "", ...message] = words;
  if (flags.json && flags.events) {
    throw new UsageError("`--json` prints only the result, `--events` every event: pass one of them.");
  }
  const cwd = workingDirectory(context, flags);
  const told = readRunFlags(flags, cwd);
  const said = await readMessageInput(
    context,
    message,
    told.arguments !== undefined || told.input !== undefined,
  );
  if (flags.durable && !flags.dryRun) {
    const { startDurably } = await import("./run-durable.ts"); // Most runs aren't durable.
    return startDurably(context, flags, word, { ...said, ...told });
  }
  const opened = await openSkill(context, flags, word);
  tellTrust(context, flags, opened);
  const metier = await askForTrust(context, flags, opened.metier);
  const request: RunRequest = {
    skill: opened.address,
    source: "user",
    caller: readCaller(flags),
    ...said,
    ...told,
  };
  try {
    if (flags.dryRun)
      showPlan(context, flags, await metier.plan({ ...request, ...questionsFor(context, flags) }));
    else await carryOut(context, flags, metier, request);
  } finally {
    await metier.capabilities.close();
  }
};

function showPlan(context: CliContext, flags: RunFlags, planned: PlannedRun): void {
  if (!planned.ok) {
    finishRun(context, flags, { result: planned.result });
    return;
  }
  const { outline } = planned;
  reply(context, flags, outline, (style) => planText(outline, style), outline.diagnostics);
}

async function carryOut(
  context: CliContext,
  flags: RunFlags,
  metier: Metier,
  request: RunRequest,
): Promise<void> {
  const ended = await watchRun(context, flags, metier, request);
  finishWithFiles(context, flags, metier.places, outFolder(context, flags), ended);
}

/** The first Ctrl-C stops the run, which may take a moment; the second ends everything at once. */
async function watchRun(
  context: CliContext,
  flags: RunFlags,
  metier: Metier,
  request: RunRequest,
): Promise<EndedRun> {
  const { io } = context;
  const stop = (): void => {
    screen.stopping();
    if (!flags.json) screen.io.stderr.write(`${STOPPING}\n`);
    handle.cancel();
  };
  const { interrupt, release } = listenTwice(io, stop, () => screen.close());
  const { quiet, json, events } = flags;
  const screen = openRunScreen(io, { quiet, silent: json || events, onInterrupt: interrupt });
  const handle = metier.start({
    ...request,
    ...questionsFor({ ...context, io: screen.io }, flags, metier.places),
    onProgress: (text) => screen.onProgress(text),
    onEvent: (event) => {
      if (events) out(context, JSON.stringify(event));
      else screen.onEvent(event);
    },
  });
  try {
    const result = await handle.result;
    return { result, isShown: screen.end(result) };
  } finally {
    release();
    screen.close();
  }
}
