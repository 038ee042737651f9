/** For whom a function of the database works: its first argument. */
import { currentTenant } from "../tenant-scope.ts";
import { writeText } from "./text.ts";

/** No tenant is called so: whoever has not said for whom sees nothing and writes nothing. */
const NOBODY = "";

export function currentScope(): string {
  return writeText(currentTenant() ?? NOBODY);
}
