/** The tenant that a database function works for: its first argument. */
import { currentTenant } from "../tenant-scope.ts";
import { writeText } from "./text.ts";

/** No tenant has this name: without a scope, nothing can be read or written. */
const NOBODY = "";

export function currentScope(): string {
  return writeText(currentTenant() ?? NOBODY);
}
