/** Whether an evaluation is good enough, and how the command ends. */
import { type Diagnostic, hasErrors } from "../../foundation/diagnostic.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import { type CliContext, endWith } from "../context.ts";

export interface Ending {
  readonly passRate: number;
  /** `--min-pass-rate` */
  readonly least: number | undefined;
  readonly errors: number;
  readonly stopped?: string | undefined;
  readonly cancelled: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** What ended it early says more than the rate that it had by then. */
export function endEvaluation(context: CliContext, ending: Ending): boolean {
  const { passRate, least, errors, stopped, cancelled, diagnostics } = ending;
  const reasons = [
    [cancelled, EXIT.cancelled],
    [stopped !== undefined, EXIT.limited],
    [errors > 0, EXIT.failed],
    [(least !== undefined && passRate < least) || hasErrors(diagnostics), EXIT.no],
  ] as const;
  const found = reasons.find(([applies]) => applies);
  if (found) endWith(context, found[1]);
  return found === undefined;
}
