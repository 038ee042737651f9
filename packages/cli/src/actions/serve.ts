/** `metier serve`: the API and a worker in one process, until the user or the system ends it. */
import { EXIT, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import type { ServeFlags } from "../commands/connecting.ts";
import type { Action } from "../commands/define.ts";
import { endWith, err, outJson } from "../context.ts";
import { homeFolder } from "../open-metier.ts";

/** A service that is told to end is gone within ten seconds. */
const STOP_MS = 8_000;
const MOST_LEASE_SECONDS = 3600;
const MOST_ANSWER_SECONDS = 365 * 24 * 3600;

export const serveAction: Action<ServeFlags> = async (context, flags) => {
  const { io } = context;
  const asked = presentFields({
    port: readNumber("port", flags.port, 0, 65_535),
    leaseMs: readSeconds("lease", flags.lease, MOST_LEASE_SECONDS),
    questionMs: readSeconds("answer-within", flags.answerWithin, MOST_ANSWER_SECONDS),
    slots: readNumber("slots", flags.slots, 1, 1_000),
    host: flags.host,
    home: homeFolder(context, flags),
  });
  // The service and its libraries are large, and no other command needs them.
  const { startLocalService } = await import("@metier/service");
  const started = await startLocalService({
    ...asked,
    environment: io.environment,
    ...(flags.log && { printLog: (line: string) => err(context, line) }),
  });
  if (!started.ok) {
    const { message, hint } = started.refusal;
    err(context, [message, hint].filter(Boolean).join("\n"));
    endWith(context, EXIT.prerequisite);
    return;
  }
  const { url, adminKey, stop } = started.value;
  if (flags.json) outJson(context, presentFields({ url, adminKey }));
  else {
    if (adminKey !== undefined) {
      err(context, `Admin key, shown this once: ${adminKey}`);
      err(context, "Send it as `Authorization: Bearer <key>`.");
    }
    err(context, `Serving at ${url}. Press Ctrl-C to stop.`);
  }
  await new Promise<void>((resolve) => void io.onInterrupt(resolve));
  if (!flags.json) err(context, "Stopping: runs go on when the service starts again.");
  await stop(STOP_MS);
};

function readNumber(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`\`--${name} ${text}\` is not a number from ${least} to ${most}.`, {
    hint: `Pass a whole number, such as \`--${name} ${Math.max(least, 8080 % most)}\`.`,
  });
}

function readSeconds(name: string, text: string | undefined, most: number): number | undefined {
  const seconds = readNumber(name, text, 1, most);
  return seconds === undefined ? undefined : seconds * 1000;
}
