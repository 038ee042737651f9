/** `metier serve --migrate`: updates the shared database and exits, for a step before an upgrade. */
import { MetierError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import type { ServeFlags } from "../commands/connecting.ts";
import { type CliContext, reply } from "../context.ts";

const ADMIN = "METIER_DATABASE_ADMIN_URL";

/** `database` belongs to the role that services use; it is granted what it needs. */
export async function migrateDatabase(
  context: CliContext,
  flags: ServeFlags,
  database: string | undefined,
): Promise<void> {
  const adminUrl = context.io.environment[ADMIN]?.trim();
  if (database === undefined || !adminUrl) {
    throw new UsageError("`--migrate` needs a database and the role that owns its tables.", {
      hint: `Pass \`--database\` and \`--object-store\`, and set ${ADMIN}.`,
    });
  }
  const { openPostgresStore } = await import("@metier/durable/postgres");
  const opened = await openPostgresStore({ url: database, adminUrl });
  if (!opened.ok) {
    const { message, hint } = opened.refusal;
    throw new MetierError("durable.unavailable", message, presentFields({ hint }));
  }
  await opened.value.close();
  reply(context, flags, { migrated: true }, () => "The database is up to date.");
}
