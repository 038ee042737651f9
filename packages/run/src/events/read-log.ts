/**
 * Reads the log of a run: whole, or only its first and last line, which is what a list of many runs needs. Failures are
 * values; a log that was cut off is read up to there.
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
/** Of one line that is read alone. */
const MOST_LINE_BYTES = 16 * 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export function readRunLog(file: string): Result<EventLines> {
  const read = readBounded(file, MOST_BYTES);
  return read.ok ? done(parseEventLines(read.text)) : refused({ message: read.message });
}

interface LogEnds {
  readonly first?: RunEvent | undefined;
  /** Of those that are known: the last whole line, when it is an event. */
  readonly last?: RunEvent | undefined;
}

/** `undefined` when the file cannot be read. */
export function readLogEnds(file: string): LogEnds | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const { size } = fstatSync(descriptor);
    return { first: parseLine(firstLine(descriptor, size)), last: parseLine(lastLine(descriptor, size)) };
  } catch {
    return undefined; // The caller says that it is unreadable.
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

/** What an event must have; what it may have besides is listed, with `?`, only where something relies on its shape. */
const FIELDS: Readonly<Record<RunEventBody["type"], string>> = {
  "run-started": "skill source location trust model depth tools workDir cwd env userId? tenantId?",
  "run-resumed": "skill model activeMs",
  "model-called": "step messages",
  "text-delta": "step text",
  "model-answered": "step parts finishReason usage durationMs cost?",
  "model-retried": "step attempt delayMs reason",
  "tool-called": "step callId tool input decision rule",
  "approval-asked": "step callId tool questionId input rule",
  "approval-answered": "step callId tool questionId", // Its status is that of a question.
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

/** A field of one name has one shape, wherever it stands; one that is neither here nor a number is a text. */
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
  /** Events of a newer version or of a type that is not known. */
  readonly unknown: number;
  /** Lines that are no events. */
  readonly broken: number;
  /** The last line was not written to its end. */
  readonly torn: boolean;
}

/**
 * Lines of a log as events. A log may be cut off, written by a newer version or changed by hand, so the shape of every
 * event is checked against the tables above before anything relies on it.
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
