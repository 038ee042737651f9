/** `metier serve`: the API and a worker in one process, until the user or the system stops it. */
import { join } from "node:path";
import { EXIT, MetierError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { safeLine } from "@metier/base/text";
import type { ServeFlags } from "../commands/connecting.ts";
import type { Action } from "../commands/define.ts";
import { type CliContext, endWith, err, outJson, reply } from "../context.ts";
import { findInspectorPage } from "./inspector-page.ts";
import { migrateDatabase } from "./migrate-database.ts";
import { readServiceFlags, STOP_MS } from "./service-flags.ts";
import { durableFolder } from "./terminal-runs.ts";

export const serveAction: Action<ServeFlags> = async (context, flags) => {
  if (flags.rotateKey) return rotateKey(context, flags);
  const { io } = context;
  const asked = readServiceFlags(context, flags, 0);
  if (flags.migrate) return migrateDatabase(context, flags, asked.shared?.database);
  if (flags.import && asked.shared === undefined) {
    throw new UsageError("`--import` needs a database to move runs to.", {
      hint: "Pass `--database` and `--object-store`.",
    });
  }
  // The service and its libraries are large, and no other command needs them.
  const { startLocalService } = await import("@metier/service");
  const page = await findInspectorPage();
  const started = await startLocalService({
    ...asked,
    isImport: flags.import ?? false,
    ...(page && { page }),
    ...(flags.log && { printLog: (line: string) => err(context, line) }),
  });
  if (!started.ok) {
    const { message, hint } = started.refusal;
    err(context, [message, hint].filter(Boolean).join("\n"));
    endWith(context, EXIT.prerequisite);
    return;
  }
  const { url, adminKey, imported, stop } = started.value;
  if (flags.json) outJson(context, presentFields({ url, adminKey, imported }));
  else {
    if (imported) {
      const { runs, records, auditLines, blobs } = imported;
      err(
        context,
        `Moved to the database: ${runs} runs, ${records} records, ${auditLines} audit log lines, ${blobs} work folder parts.`,
      );
    }
    if (adminKey !== undefined) {
      err(context, `Admin key, shown only once: ${adminKey}`);
      err(context, "Send it as `Authorization: Bearer <key>`, or paste it into the inspector.");
    }
    err(context, `Serving at ${url}. Press Ctrl-C to stop.`);
    if (page !== undefined) err(context, `Inspector: open ${url} and sign in with a key.`);
  }
  await new Promise<void>((resolve) => void io.onInterrupt(resolve));
  if (!flags.json) err(context, "Stopping. Runs continue when the service starts again.");
  await stop(STOP_MS);
};

/** Works next to a running service, which rereads the keys when it meets one it doesn't know. */
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
      `Key ${key} is now the newest in \`${safeLine(file)}\`.`,
      "Older keys stay in the file and still open what they encrypted. A running service uses the new key after its next start.",
    ].join("\n"),
  );
}
