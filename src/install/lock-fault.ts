/** A lock file that cannot be used, as the fault of whatever needed it. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";

export function lockFault({ path, line, message, hint }: Diagnostic): FaultOutcome {
  const place = line === undefined ? path : `${path}:${line}`;
  return faulty(
    "install.lock",
    `\`${place}\`: ${message}`,
    hint ?? "Repair the file, then run the command again.",
  );
}
