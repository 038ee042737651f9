/** Whether the master key that the services of a database share opens what one machine has written under its own. */
import { done, type Result, refused } from "@metier/base/result";
import { CHECK_KIND, CHECK_USE } from "../keys/hold-to-key.ts";
import type { MasterKey } from "../keys/master-key.ts";
import { parseCell } from "../rows.ts";
import type { Database } from "../sqlite/open-database.ts";

/** A folder without the value was never written to with a key. */
export function checkKeyOf(from: Database, master: MasterKey): Result<undefined> {
  const row = from.statement("SELECT body FROM records WHERE kind = ? LIMIT 1").get(CHECK_KIND);
  const { sealed } = row ? (parseCell(row.body as string) as { readonly sealed?: unknown }) : {};
  if (typeof sealed !== "string" || master.unseal(CHECK_USE, sealed).ok) return done(undefined);
  return refused({
    message:
      "METIER_MASTER_KEY does not hold the key under which this home's secrets and work folders were written.",
    hint: "Put it behind the new one, with a comma between them: `METIER_MASTER_KEY=<new>,<old>`. The old one is the first of `keys` in `master-key.json` of the service's folder, unless METIER_MASTER_KEY was set before.",
  });
}
