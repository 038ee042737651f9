/** What the program's logger gets from a run: names and numbers, never a prompt or an answer. */
import type { LogFields, LogLevel, WriteLog } from "@metier/base/diagnostic";
import type { RunEvent } from "./run-event.ts";
import type { RunSink } from "./run-recorder.ts";

interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: LogFields;
}

export function createLogSink(log: WriteLog): RunSink {
  return {
    name: "logger",
    write(event) {
      const line = describeEvent(event);
      if (line) log(line.level, { runId: event.runId, ...line.fields }, line.message);
    },
  };
}

/** Nothing for events that don't help an operator; a failed callback was already logged with its error. */
function describeEvent(event: RunEvent): LogLine | undefined {
  switch (event.type) {
    case "run-started": {
      const { skill, model, trust, source, userId, tenantId, parentRunId } = event;
      return {
        level: "info",
        message: "run started",
        fields: { skill, model, trust, source, userId, tenantId, parentRunId },
      };
    }
    case "run-finished": {
      const { status, iterations, durationMs, usage, cost, limit, error } = event;
      const fields = { status, iterations, durationMs, usage, cost, limit, code: error?.code };
      return { level: status === "failed" ? "error" : "info", message: `run ${status}`, fields };
    }
    case "model-retried": {
      const { step, attempt, delayMs } = event;
      return { level: "warn", message: "the model is asked again", fields: { step, attempt, delayMs } };
    }
    case "tool-called": {
      const { step, tool, decision, rule } = event;
      const isDenied = decision === "deny";
      const message = isDenied ? "tool call denied" : "tool called";
      return { level: isDenied ? "warn" : "debug", message, fields: { step, tool, decision, rule } };
    }
    case "tool-finished": {
      const { step, tool, isError, durationMs } = event;
      return { level: "debug", message: "tool finished", fields: { step, tool, isError, durationMs } };
    }
    case "tool-logged": {
      const { step, tool, level, message, fields } = event;
      return { level, message, fields: { ...fields, step, tool } };
    }
    case "limit-reached":
      return { level: "warn", message: event.message, fields: { limit: event.limit } };
    case "diagnostic": {
      const { code, message } = event;
      return code === "host.callback-failed" ? undefined : { level: "warn", message, fields: { code } };
    }
    default:
      return undefined;
  }
}
