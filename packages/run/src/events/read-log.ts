/**
 * Reads a run's log: all of it, or only its first and last line, which is enough for a list of many runs. Failures are
 * values; a truncated log is read as far as it goes.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readBounded } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import {
  choiceShape,
  fitShape,
  flagShape,
  jsonShape,
  listShape,
  recordShape,
  refuseShape,
  type Shape,
  testedShape,
  textShape,
} from "@metier/base/shape";
import { EVENT_VERSION, type RunEvent, type RunEventBody, type RunStatus } from "./run-event.ts";

const MOST_BYTES = 256 * 1024 * 1024;
/** The longest line that is read alone. */
const MOST_LINE_BYTES = 16 * 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export function readRunLog(file: string): Result<EventLines> {
  const read = readBounded(file, MOST_BYTES);
  return read.ok ? done(parseEventLines(read.text)) : refused({ message: read.message });
}

interface LogEnds {
  readonly first?: RunEvent | undefined;
  /** The last complete line, if it is a known event. */
  readonly last?: RunEvent | undefined;
}

/** `undefined` if the file can't be read. */
export function readLogEnds(file: string): LogEnds | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const { size } = fstatSync(descriptor);
    return { first: parseLine(firstLine(descriptor, size)), last: parseLine(lastLine(descriptor, size)) };
  } catch {
    return undefined; // The caller reports it as unreadable.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function parseLine(line: string): RunEvent | undefined {
  const event = parseEvent(line);
  return typeof event === "object" ? event : undefined;
}

function firstLine(descriptor: number, size: number): string {
  for (let length = BLOCK_BYTES; ; length *= 4) {
    const bytes = readPart(descriptor, 0, Math.min(length, size));
    const end = bytes.indexOf(NEWLINE);
    if (end !== -1) return bytes.toString("utf8", 0, end);
    if (length >= size || length >= MOST_LINE_BYTES) return "";
  }
}

function lastLine(descriptor: number, size: number): string {
  for (let length = BLOCK_BYTES; ; length *= 4) {
    const bytes = readPart(descriptor, Math.max(0, size - length), size);
    const end = bytes.lastIndexOf(NEWLINE);
    const start = end > 0 ? bytes.lastIndexOf(NEWLINE, end - 1) : -1;
    if (end !== -1 && (start !== -1 || length >= size)) return bytes.toString("utf8", start + 1, end);
    if (length >= size || length >= MOST_LINE_BYTES) return "";
  }
}

function readPart(descriptor: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from));
}

/** The required fields of an event; optional ones are listed, with `?`, only if something relies on their shape. */
const FIELDS: Readonly<Record<RunEventBody["type"], string>> = {
  "run-started": "skill source location trust model depth tools workDir cwd env userId? tenantId?",
  "run-resumed": "skill model activeMs",
  "model-called": "step messages",
  "text-delta": "step text",
  "model-answered": "step parts finishReason usage durationMs cost?",
  "model-retried": "step attempt delayMs reason",
  "tool-called": "step callId tool input decision rule",
  "approval-asked": "step callId tool questionId input rule",
  "approval-answered": "step callId tool questionId", // Its status is a question's.
  "tool-finished": "step callId tool text isError durationMs",
  "tool-logged": "step callId tool level message",
  "hook-finished": "step hook outcome durationMs",
  "capability-called": "step capability mutating outcome requestId durationMs",
  "child-started": "childRunId skill",
  diagnostic: "code message",
  "limit-reached": "limit message",
  "run-finished": "status text iterations usage durationMs cost?",
};

const PART_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ["text", "text"],
  ["tool-call", "callId tool"],
  ["tool-result", "callId tool text"],
]);

const NUMBERS =
  /^(?:seq|step|depth|activeMs|attempt|delayMs|durationMs|iterations|cost|(?:input|output|total)Tokens)$/;
const numberShape = testedShape((value) => typeof value === "number", "a number");
const partShape: Shape<object> = (value, place) => {
  const names = PART_FIELDS.get(isJsonObject(value) && value.type);
  return names === undefined
    ? refuseShape(value, place, "a part of a message")
    : fieldsShape(names)(value, place);
};

/** A field has the same shape everywhere; one that is neither here nor a number is a string. */
const SHAPES: Readonly<Record<string, Shape<unknown>>> = {
  isError: flagShape,
  mutating: flagShape,
  tools: listShape(textShape),
  env: listShape(textShape),
  input: jsonShape,
  usage: fieldsShape("inputTokens outputTokens totalTokens"),
  parts: listShape(partShape),
  messages: listShape(fieldsShape("role parts")),
  status: choiceShape<RunStatus>("completed", "limited", "failed", "refused", "cancelled"),
};

function fieldsShape(names: string): Shape<object> {
  const shapeOf = (name: string) => (NUMBERS.test(name) ? numberShape : (SHAPES[name] ?? textShape));
  return (value, place) => {
    const listed = names.split(" ");
    const fields = listed.map((name) => name.replace("?", "")).map((name) => [name, shapeOf(name)] as const);
    const optional = listed.filter((name) => name.endsWith("?")).map((name) => name.slice(0, -1));
    return recordShape<Record<string, unknown>>(Object.fromEntries(fields), optional)(value, place);
  };
}

interface EventLines {
  readonly events: readonly RunEvent[];
  /** Events of a newer version or an unknown type. */
  readonly unknown: number;
  /** Lines that aren't events. */
  readonly broken: number;
  /** The last line is incomplete. */
  readonly torn: boolean;
}

/**
 * Parses log lines as events. A log may be truncated, written by a newer version or edited, so every event's shape is
 * checked against the tables above before anything relies on it.
 */
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

function parseEvent(line: string): RunEvent | "unknown" | "broken" {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "broken";
  }
  if (!isJsonObject(value) || typeof value.v !== "number" || typeof value.type !== "string") return "broken";
  if (value.v !== EVENT_VERSION || !Object.hasOwn(FIELDS, value.type)) return "unknown";
  const shape = fieldsShape(`runId seq at ${FIELDS[value.type as RunEventBody["type"]]}`);
  return fitShape(shape, value) === undefined ? "broken" : (value as unknown as RunEvent);
}
