/** How a run, or a turn of a chat, ends the command that asked for it. */
import type { RunStatus } from "../../events/run-event.ts";
import { EXIT, type ExitCode } from "../../foundation/exit-codes.ts";
import type { RunResult } from "../../run/run-result.ts";

const EXIT_OF: Readonly<Record<RunStatus, ExitCode>> = {
  completed: EXIT.done,
  limited: EXIT.limited,
  failed: EXIT.failed,
  refused: EXIT.refused,
  cancelled: EXIT.cancelled,
};

export function exitFor({ status, error }: Pick<RunResult, "status" | "error">): ExitCode {
  return error?.code === "model.missing" ? EXIT.prerequisite : EXIT_OF[status];
}
