/** `metier worker`: advances runs of services that share a database, until the user or the system stops it. */
import { EXIT, UsageError } from "@metier/base/errors";
import type { WorkerFlags } from "../commands/connecting.ts";
import type { Action } from "../commands/define.ts";
import { endWith, err, outJson } from "../context.ts";
import { readServiceFlags, STOP_MS } from "./service-flags.ts";

export const workerAction: Action<WorkerFlags> = async (context, flags) => {
  const asked = readServiceFlags(context, flags, 1);
  if (asked.shared === undefined) {
    throw new UsageError(
      "A worker needs a database that it shares with the services whose runs it advances.",
      {
        hint: "Pass `--database` and `--object-store`, or set METIER_DATABASE_URL and METIER_OBJECT_STORE. On one machine, `metier serve` alone is enough.",
      },
    );
  }
  // The service and its libraries are large, and no other command needs them.
  const { startLocalService } = await import("@metier/service");
  const started = await startLocalService({
    ...asked,
    isWorker: true,
    ...(flags.log && { printLog: (line: string) => err(context, line) }),
  });
  if (!started.ok) {
    const { message, hint } = started.refusal;
    err(context, [message, hint].filter(Boolean).join("\n"));
    endWith(context, EXIT.prerequisite);
    return;
  }
  const { url, drained, stop } = started.value;
  if (flags.json) outJson(context, { url });
  else err(context, `Working. Probes and metrics are at ${url}. Press Ctrl-C to stop.`);
  const told = new Promise<void>((resolve) => void context.io.onInterrupt(resolve));
  await Promise.race([told, drained]);
  if (!flags.json) err(context, "Stopping. Other workers continue the runs.");
  await stop(STOP_MS);
};
