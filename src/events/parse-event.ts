/**
 * Lines of a log as events. A log may be cut off, written by a newer version or changed by hand, so the shape of every
 * event is checked against one table before anything relies on it.
 */
import { EVENT_VERSION, type RunEvent, type RunEventBody, type RunStatus } from "./run-event.ts";

type Kind = "text" | "number" | "flag" | "texts" | "usage" | "parts" | "messages" | "status" | "any";

/** What an event must have; what it may have besides is not listed. */
const SHAPES: Readonly<Record<RunEventBody["type"], Readonly<Record<string, Kind>>>> = {
  "run-started": {
    skill: "text",
    source: "text",
    location: "text",
    trust: "text",
    model: "text",
    depth: "number",
    tools: "texts",
    workDir: "text",
    cwd: "text",
    env: "texts",
  },
  "model-called": { step: "number", messages: "messages" },
  "text-delta": { step: "number", text: "text" },
  "model-answered": {
    step: "number",
    parts: "parts",
    finishReason: "text",
    usage: "usage",
    durationMs: "number",
  },
  "model-retried": { step: "number", attempt: "number", delayMs: "number", reason: "text" },
  "tool-called": {
    step: "number",
    callId: "text",
    tool: "text",
    input: "any",
    decision: "text",
    rule: "text",
  },
  "tool-finished": {
    step: "number",
    callId: "text",
    tool: "text",
    text: "text",
    isError: "flag",
    durationMs: "number",
  },
  "hook-finished": { step: "number", hook: "text", outcome: "text", durationMs: "number" },
  "capability-called": {
    step: "number",
    capability: "text",
    mutating: "flag",
    outcome: "text",
    requestId: "text",
    durationMs: "number",
  },
  "child-started": { childRunId: "text", skill: "text" },
  diagnostic: { code: "text", message: "text" },
  "limit-reached": { limit: "text", message: "text" },
  "run-finished": {
    status: "status",
    text: "text",
    iterations: "number",
    usage: "usage",
    durationMs: "number",
  },
};

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isPart: Check = (value) => {
  const fields = PART_FIELDS.get(fieldOf(value, "type"));
  return fields?.every((key) => isText(fieldOf(value, key))) ?? false;
};

const PART_FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["text", ["text"]],
  ["tool-call", ["callId", "tool"]],
  ["tool-result", ["callId", "tool", "text"]],
]);

const STATUSES: ReadonlySet<unknown> = new Set<RunStatus>([
  "completed",
  "limited",
  "failed",
  "refused",
  "cancelled",
]);

const CHECKS: Readonly<Record<Kind, Check>> = {
  text: isText,
  number: isNumber,
  flag: (value) => typeof value === "boolean",
  texts: isListOf(isText),
  usage: (value) =>
    ["inputTokens", "outputTokens", "totalTokens"].every((key) => isNumber(fieldOf(value, key))),
  parts: isListOf(isPart),
  messages: isListOf((value) => isText(fieldOf(value, "role")) && isListOf(isPart)(fieldOf(value, "parts"))),
  status: (value) => STATUSES.has(value),
  any: (value) => value !== undefined,
};

export interface EventLines {
  readonly events: readonly RunEvent[];
  /** Events of a newer version or of a type that is not known. */
  readonly unknown: number;
  /** Lines that are no events. */
  readonly broken: number;
  /** The last line was not written to its end. */
  readonly torn: boolean;
}

export function parseEventLines(text: string): EventLines {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  const read = lines.filter((line) => line.trim() !== "").map(parseEvent);
  return {
    events: read.filter((event) => typeof event === "object"),
    unknown: read.filter((event) => event === "unknown").length,
    broken: read.filter((event) => event === "broken").length,
    torn: last !== "",
  };
}

export function parseEvent(line: string): RunEvent | "unknown" | "broken" {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "broken";
  }
  const version = fieldOf(value, "v");
  const type = fieldOf(value, "type");
  if (!isNumber(version) || !isText(type)) return "broken";
  if (version !== EVENT_VERSION || !Object.hasOwn(SHAPES, String(type))) return "unknown";
  const shape = {
    runId: "text",
    seq: "number",
    at: "text",
    ...SHAPES[type as RunEventBody["type"]],
  } as const;
  const fits = Object.entries(shape).every(([key, kind]) => CHECKS[kind](fieldOf(value, key)));
  return fits ? (value as RunEvent) : "broken";
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
