/** Checks that the master key shared by a database's services opens what one machine wrote under its own. */
import { done, type Result, refused } from "@metier/base/result";
import { CHECK_KIND, CHECK_USE } from "../keys/hold-to-key.ts";
import type { MasterKey } from "../keys/master-key.ts";
import { parseCell } from "../rows.ts";
import type { Database } from "../sqlite/open-database.ts";

/** Without this value, nothing was ever written to the folder with a key. */
export function checkKeyOf(from: Database, master: MasterKey): Result<undefined> {
  const row = from.statement("SELECT body FROM records WHERE kind = ? LIMIT 1").get(CHECK_KIND);
  const { sealed } = row ? (parseCell(row.body as string) as { readonly sealed?: unknown }) : {};
  if (typeof sealed !== "string" || master.unseal(CHECK_USE, sealed).ok) return done(undefined);
  return refused({
    message:
      "METIER_MASTER_KEY does not include the key that encrypted this home's secrets and work folders.",
    hint: "Add it after the new one, separated by a comma: `METIER_MASTER_KEY=<new>,<old>`. The old key is the first of `keys` in `master-key.json` in the service's folder, unless METIER_MASTER_KEY was set before.",
  });
}
