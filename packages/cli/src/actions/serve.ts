/** `metier serve`: the API and a worker in one process, until the user or the system ends it. */
import { join } from "node:path";
import { EXIT, MetierError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { safeLine } from "@metier/base/text";
import type { ServeFlags } from "../commands/connecting.ts";
import type { Action } from "../commands/define.ts";
import { type CliContext, endWith, err, outJson, reply } from "../context.ts";
import { homeFolder } from "../open-metier.ts";
import { findInspectorPage } from "./inspector-page.ts";
import { durableFolder } from "./terminal-runs.ts";

/** A service that is told to end is gone within ten seconds. */
const STOP_MS = 7_000;
const MOST_LEASE_SECONDS = 3600;
const MOST_GIBIBYTES = 1024 ** 2;
const MOST_ANSWER_SECONDS = 365 * 24 * 3600;

export const serveAction: Action<ServeFlags> = async (context, flags) => {
  if (flags.rotateKey) return rotateKey(context, flags);
  const { io } = context;
  const asked = presentFields({
    port: readNumber("port", flags.port, 0, 65_535),
    leaseMs: readSeconds("lease", flags.lease, MOST_LEASE_SECONDS),
    questionMs: readSeconds("answer-within", flags.answerWithin, MOST_ANSWER_SECONDS),
    slots: readNumber("slots", flags.slots, 1, 1_000),
    host: flags.host,
    home: homeFolder(context, flags),
  });
  const gibibytes = readNumber("snapshots", flags.snapshots, 1, MOST_GIBIBYTES);
  // The service and its libraries are large, and no other command needs them.
  const { startLocalService } = await import("@metier/service");
  const page = await findInspectorPage();
  const started = await startLocalService({
    ...asked,
    ...(gibibytes !== undefined && { snapshots: { bytesPerTenant: gibibytes * 1024 ** 3 } }),
    environment: io.environment,
    ...(page && { page }),
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
      err(context, "Send it as `Authorization: Bearer <key>`, or paste it into the inspector's page.");
    }
    err(context, `Serving at ${url}. Press Ctrl-C to stop.`);
    if (page !== undefined) err(context, `The inspector is the page at ${url}; sign in with a key.`);
  }
  await new Promise<void>((resolve) => void io.onInterrupt(resolve));
  if (!flags.json) err(context, "Stopping: runs go on when the service starts again.");
  await stop(STOP_MS);
};

/** Beside a service that is at work: it reads the keys anew when it meets one that it does not know. */
async function rotateKey(context: CliContext, flags: ServeFlags): Promise<void> {
  const file = join(durableFolder(context, flags), "master-key.json");
  const { rotateMasterKey } = await import("@metier/durable/snapshots");
  const rotated = rotateMasterKey({ environment: context.io.environment, file });
  if (!rotated.ok) {
    const { message, hint } = rotated.refusal;
    throw new MetierError("durable.unavailable", message, presentFields({ hint }));
  }
  const { newest: key } = rotated.value;
  reply(context, flags, { key, file }, () =>
    [
      `Key ${key} is the newest of \`${safeLine(file)}\`.`,
      "Older keys stay there, and open what was written under them. A service that runs now uses the new one after its next start.",
    ].join("\n"),
  );
}

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
