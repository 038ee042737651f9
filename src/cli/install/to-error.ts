/** A fault of an installation as the error that ends a command. */
import { MetierError } from "../../foundation/errors.ts";
import type { InstallFault } from "../../install/install-fault.ts";

export function toError({ code, message, hint }: InstallFault): MetierError {
  return new MetierError(code, message, { hint });
}
