/** Compares a request to a model with the recorded one: system prompt, texts, calls, results. */
import { canonicalText } from "@metier/base/json";
import type { MessagePart, RecordedMessage, RunEvent } from "../events/run-event.ts";

export interface RequestDifference {
  /** What differs: "the system prompt", "the result of `bash`". */
  readonly what: string;
  readonly recorded: string;
  readonly came: string;
}

interface Side {
  readonly request: Pick<Extract<RunEvent, { type: "model-called" }>, "system" | "messages">;
  readonly place: RecordedPlace;
}

/** The first real difference. */
export function compareRequest(recorded: Side, came: Side): RequestDifference | undefined {
  const recordedPieces = piecesOf(recorded);
  const camePieces = piecesOf(came);
  for (const [index, piece] of recordedPieces.entries()) {
    const other = camePieces[index];
    if (other === undefined) return { what: piece.what, recorded: excerpt(piece.text, 0), came: "(nothing)" };
    if (piece.what !== other.what) {
      return { what: "the order of messages", recorded: piece.what, came: other.what };
    }
    if (piece.text !== other.text) return showDifference(piece.what, piece.text, other.text);
  }
  const extra = camePieces[recordedPieces.length];
  return extra && { what: extra.what, recorded: "(nothing)", came: excerpt(extra.text, 0) };
}

interface Piece {
  readonly what: string;
  readonly text: string;
}

function piecesOf({ request: { system, messages }, place }: Side): readonly Piece[] {
  const pieces = messages.flatMap(({ role, parts }) => byCall(parts).map((part) => describePart(role, part)));
  const all = system === undefined ? pieces : [{ what: "the system prompt", text: system }, ...pieces];
  return all.map(({ what, text }) => ({ what, text: toPlaceholders(text, place) }));
}

/** Results arrive in the order in which tools finish, which varies. */
function byCall(parts: readonly MessagePart[]): readonly MessagePart[] {
  if (!parts.every((part) => part.type === "tool-result")) return parts;
  return parts.toSorted((a, b) => (a.callId < b.callId ? -1 : 1));
}

function describePart(role: RecordedMessage["role"], part: MessagePart): Piece {
  switch (part.type) {
    case "text":
      return { what: role === "user" ? "a user's text" : "a model's text", text: part.text };
    case "tool-call":
      return { what: `the call of \`${part.tool}\``, text: canonicalText(part.input) };
    case "tool-result":
      return {
        what: `the result of \`${part.tool}\``,
        text: part.isError ? `error: ${part.text}` : part.text,
      };
  }
}

function showDifference(what: string, recorded: string, came: string): RequestDifference {
  let start = 0;
  while (start < recorded.length && recorded[start] === came[start]) start += 1;
  return { what, recorded: excerpt(recorded, start), came: excerpt(came, start) };
}

const BEFORE = 60;
const AFTER = 160;

/** Around the position where two texts diverge. */
function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - BEFORE);
  const to = Math.min(text.length, at + AFTER);
  return JSON.stringify(`${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`);
}

/**
 * Text in which everything that differs between two runs of the same thing is replaced: folders, run ids, the clock,
 * measured durations and random ids. Only what the run itself introduced is replaced: a date that isn't today's is
 * data.
 */
export interface RecordedPlace {
  readonly runId?: string | undefined;
  readonly workDir?: string | undefined;
  readonly skillDir?: string | undefined;
  readonly cwd?: string | undefined;
  /** Of the run that started it; its folders may appear in what it passed on. */
  readonly parent?: RecordedPlace | undefined;
  /** When the run took place, in milliseconds since 1970: times in between come from the clock. */
  readonly clock?: { readonly from: number; readonly to: number };
}

export function toPlaceholders(text: string, place: RecordedPlace): string {
  const named = namesOf(place).reduce(
    (rest, [name, placeholder]) => replaceName(rest, name, placeholder),
    text,
  );
  const timeless = place.clock ? replaceTimes(named, place.clock) : named;
  return timeless.replace(RANDOM_UUID, "<uuid>").replace(MEASURED, "<duration>");
}

/** Longest first: a skill's folder may be in the working directory. If equal, its own name wins. */
function namesOf(place: RecordedPlace): readonly (readonly [string, string])[] {
  const names = new Map<string, string>();
  let prefix = "";
  for (let level: RecordedPlace | undefined = place; level; level = level.parent) {
    const { runId, workDir, skillDir, cwd } = level;
    const found = { run: runId, work: workDir, skill: skillDir, cwd };
    for (const [word, name = ""] of Object.entries(found)) {
      if (name.length > 1 && !names.has(name)) names.set(name, `<${prefix}${word}>`);
    }
    prefix += "parent-";
  }
  return [...names].sort(([a], [b]) => b.length - a.length);
}

/** Whole names only: `/a/b` isn't part of `/a/bc` or `/x/a/b`. */
function replaceName(text: string, name: string, placeholder: string): string {
  const escaped = name.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  const whole = `(?<![\\w.-])${escaped}(?![\\w-]|\\.\\w)`;
  return text.replace(new RegExp(whole, "g"), () => placeholder);
}

/** Versions 4 and 7: the others carry meaning. */
const RANDOM_UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/gi;

/** `0.12s` and `423 ms` were measured; `30s` and `2 minutes` were more likely set by someone, and are compared. */
const MEASURED = /(?<![\w.])(?:\d+\.\d+ ?(?:s|secs?|seconds?|ms|µs|us|ns)|\d+ ?(?:ms|µs|us|ns))\b/g;

const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const TIME = "\\d\\d:\\d\\d:\\d\\d";
const DATE_TIMES: readonly RegExp[] = [
  /(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?(?:UTC|[+-]\d\d:?\d\d))?/g,
  new RegExp(`\\b${DAY}, \\d{1,2} ${MONTH} \\d{4} ${TIME} (?:GMT|UTC|[+-]\\d{4})`, "g"),
  new RegExp(`\\b${DAY} ${MONTH} [ \\d]\\d ${TIME}(?: (?:GMT|UTC))? \\d{4}`, "g"),
];
/** Seconds, milliseconds, microseconds or nanoseconds since 1970. */
const EPOCH = /(?<![\w.])\d{10}(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?(?![\w]|\.\d)/g;
const DATE = /(?<![\d-])\d{4}-\d\d-\d\d(?![\d-]|[T ]\d\d:\d\d)/g;

/** Clocks are cut to seconds, and files are stamped a little later. */
const MARGIN_MS = 2000;

function replaceTimes(text: string, { from, to }: NonNullable<RecordedPlace["clock"]>): string {
  const isNow = (time: number): boolean => time >= from - MARGIN_MS && time <= to + MARGIN_MS;
  const local = (time: number): number => time - new Date(time).getTimezoneOffset() * 60_000;
  const days = new Set(
    [from, to, local(from), local(to)].map((time) => new Date(time).toISOString().slice(0, 10)),
  );
  let rest = text;
  for (const pattern of DATE_TIMES) {
    rest = rest.replace(pattern, (written) => (readTimes(written).some(isNow) ? "<time>" : written));
  }
  rest = rest.replace(EPOCH, (digits) => (isNow(readEpoch(digits)) ? "<time>" : digits));
  return rest.replace(DATE, (day) => (days.has(day) ? "<date>" : day));
}

/** A time without a zone may be local or UTC. */
function readTimes(written: string): readonly number[] {
  const plain = written.replace(",", written.includes(", ") ? "," : ".").replace(/ ?UTC/, " GMT");
  const isIso = /^\d{4}-/.test(plain);
  const iso = plain
    .replace(" GMT", "Z")
    .replace(/^(\S{10}) /, "$1T")
    .replace(" ", "");
  const text = isIso ? iso : plain;
  const hasZone = /(?:Z|GMT|[+-]\d\d:?\d\d)(?: \d{4})?$/.test(text);
  return [Date.parse(text), ...(hasZone ? [] : [Date.parse(isIso ? `${text}Z` : `${text} GMT`)])];
}

function readEpoch(digits: string): number {
  if (digits.length === 10 || digits.includes(".")) return Number(digits) * 1000;
  return Number(digits.slice(0, 13));
}
