/** Notes from the embedding program's tools about their calls: events of the run, bounded and without secrets. */
import type { LogLevel } from "@metier/base/diagnostic";
import type { JsonObject } from "@metier/base/json";
import { showJson } from "../tools/show-json.ts";
import type { ToolLog, ToolLogCall } from "../tools/tool.ts";
import type { LiveRun } from "./live-run.ts";

/** Per run; a tool may call in a loop. */
const MOST_NOTES = 1000;
const MAX_MESSAGE = 4000;
const MAX_FIELDS = 8000;

type Fields = Readonly<Record<string, unknown>>;

interface LoggedCall {
  readonly callId: string;
  readonly tool: string;
}

/** Never throws, even after the run has ended. */
export function createToolLog(live: LiveRun, call: LoggedCall): ToolLog {
  const at =
    (level: LogLevel): ToolLogCall =>
    (first: string | Fields, second?: string | Fields): void => {
      const [message, fields] = typeof first === "string" ? [first, second] : [second, first];
      note(live, call, level, String(message ?? ""), typeof fields === "object" ? fields : undefined);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function note(live: LiveRun, call: LoggedCall, level: LogLevel, message: string, fields?: Fields): void {
  const { recorder, redactor } = live.context;
  live.notes.count += 1;
  if (live.notes.count > MOST_NOTES) return;
  const isLast = live.notes.count === MOST_NOTES;
  const text = redactor.redact(message);
  recorder.emit({
    type: "tool-logged",
    step: live.model.steps,
    ...call,
    level,
    message: `${text.slice(0, MAX_MESSAGE)}${isLast ? " [further notes of this run are left out]" : ""}`,
    fields: fields && redactor.redactJson(toFields(fields)),
  });
}

/** A value that is too large is stored as the start of its JSON. */
function toFields(fields: Fields): JsonObject {
  const { text, isCut } = showJson(fields, MAX_FIELDS);
  const read: unknown = isCut ? undefined : JSON.parse(text);
  const isObject = typeof read === "object" && read !== null && !Array.isArray(read);
  return isObject ? (read as JsonObject) : { cut: text };
}
