/**
 * The one redaction gate: everything a run sends, writes or returns passes it. It protects against accidents; isolation
 * protects against a hostile skill. Takes linear time, whatever the secrets.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { compareText } from "@metier/base/text";
import { isLongEnough, SHORTEST_SECRET, secretForms } from "./secret-forms.ts";
import {
  createPatternSearch,
  createSecretScan,
  type Pattern,
  type PatternSearch,
  type SecretScan,
  type SecretSpan,
} from "./secret-scan.ts";

export interface Secret {
  /** The name in the placeholder. */
  readonly name: string;
  readonly value: string;
}

export interface RedactionStream {
  /** Returns the part of the text that is certain; holds back the rest, which may be the start of a secret. */
  push(chunk: string): string;
  /** Returns the rest. */
  end(): string;
}

export interface Redactor {
  /** It knows no secret, so everything passes unchanged. */
  readonly isIdle: boolean;
  redact(text: string): string;
  /** Redacts all texts of a plain value, including keys. Anything but plain data stays unchanged. */
  redactJson<Value>(value: Value): Value;
  stream(): RedactionStream;
  /** From now on, also in open streams. */
  add(secret: Secret): void;
  /** One for each secret that is too short to search for. */
  readonly diagnostics: readonly Diagnostic[];
}

interface Gate {
  readonly search: PatternSearch;
  readonly placeholders: ReadonlyMap<string, string>;
}

export function createRedactor(secrets: Iterable<Secret> = []): Redactor {
  const known: Secret[] = [];
  const diagnostics: Diagnostic[] = [];
  const clean = createTextMemory();
  let gate: Gate | undefined;
  const add = (secret: Secret): void => {
    if (secret.value === "") return;
    if (!isLongEnough(secret.value)) {
      const short = reportShort(secret);
      if (!diagnostics.some(({ message }) => message === short.message)) diagnostics.push(short);
    } else if (!known.some(({ value }) => value === secret.value)) {
      known.push(secret);
      gate = undefined;
      clean.forget();
    }
  };
  const current = (): Gate | undefined => {
    if (known.length > 0) gate ??= buildGate(known);
    return gate;
  };
  const redact = (text: string): string => {
    const now = text.length < SHORTEST_SECRET ? undefined : current();
    if (now === undefined || clean.has(text)) return text;
    const redacted = redactText(text, now);
    if (redacted === text) clean.add(text);
    return redacted;
  };
  for (const secret of secrets) add(secret);
  return {
    get isIdle() {
      return known.length === 0;
    },
    redact,
    redactJson: (value) => (known.length === 0 ? value : (mapTexts(value, redact, 0) as typeof value)),
    stream: () => createStream(current),
    add,
    diagnostics,
  };
}

/** The maximum kept for speed. */
const MOST_REMEMBERED = 4 * 1024 * 1024;

/** Texts without a secret: a run's messages pass at every step and need not be searched each time. */
function createTextMemory(): { has(text: string): boolean; add(text: string): void; forget(): void } {
  const texts = new Set<string>();
  let size = 0;
  const forget = (): void => {
    texts.clear();
    size = 0;
  };
  return {
    has: (text) => texts.has(text),
    add(text) {
      if (size + text.length > MOST_REMEMBERED) forget();
      texts.add(text);
      size += text.length;
    },
    forget,
  };
}

function reportShort({ name }: Secret): Diagnostic {
  const shown = SAFE_NAME.test(name) ? name : "a secret";
  return {
    code: "secret.short",
    severity: "warning",
    message: `The value of \`${shown}\` has fewer than ${SHORTEST_SECRET} characters, so it is not redacted: it would match text by chance.`,
    path: "",
    hint: 'Use a longer value, or write `{ value = "…", secret = false }` if it is not a secret.',
  };
}

function buildGate(secrets: readonly Secret[]): Gate {
  const patterns = secrets.flatMap(({ name, value }) =>
    secretForms(value).map((text): Pattern => ({ text, label: name })),
  );
  const search = createPatternSearch(patterns);
  const names = new Set(secrets.map(({ name }) => name));
  return { search, placeholders: new Map([...names].map((name) => [name, placeholderFor(name, search)])) };
}

const SAFE_NAME = /^[A-Za-z_][\w.-]{0,63}$/;

/** A placeholder must not spell a secret itself. */
function placeholderFor(name: string, search: PatternSearch): string {
  const candidates = [...(SAFE_NAME.test(name) ? [`[redacted:${name}]`] : []), "[redacted]"];
  return candidates.find((text) => createSecretScan(search).read(text, true).length === 0) ?? "••••";
}

function redactText(text: string, { search, placeholders }: Gate): string {
  const spans = createSecretScan(search).read(text, true);
  return spans.length === 0 ? text : replaceSpans(text, 0, mergeSpans(spans), placeholders);
}

function createStream(current: () => Gate | undefined): RedactionStream {
  let gate: Gate | undefined;
  let scan: SecretScan | undefined;
  let spans: readonly SecretSpan[] = [];
  /** Text not returned yet, and its position. */
  let held = "";
  let heldAt = 0;
  const read = (chunk: string, isLast: boolean): string => {
    let piece = chunk;
    if (gate !== current()) {
      // A secret was added: search the held text again.
      gate = current();
      scan = gate && createSecretScan(gate.search);
      piece = held + chunk;
      [held, heldAt, spans] = ["", 0, []];
    }
    if (!gate || !scan) return piece;
    spans = [...spans, ...scan.read(piece, isLast)];
    held += piece;
    const settled = isLast ? heldAt + held.length : scan.settledEnd();
    const merged = mergeSpans(spans);
    // A match that may still become longer is held as a whole.
    const open = merged.find((span) => span.end > settled);
    const end = Math.min(settled, open?.start ?? settled);
    const done = merged.filter((span) => span.end <= end);
    const text = replaceSpans(held.slice(0, end - heldAt), heldAt, done, gate.placeholders);
    spans = spans.filter(({ start }) => start >= end);
    held = held.slice(end - heldAt);
    heldAt = end;
    return text;
  };
  return {
    push: (chunk) => read(chunk, false),
    end() {
      const rest = read("", true);
      gate = undefined; // Text pushed after the end is a new text.
      return rest;
    },
  };
}

/** Sorted; overlapping ones merge into one that stands for the longest, so that no end is left over. */
function mergeSpans(spans: readonly SecretSpan[]): readonly SecretSpan[] {
  const sorted = spans.toSorted(
    (a, b) => a.start - b.start || b.end - a.end || compareText(a.label, b.label),
  );
  const merged: SecretSpan[] = [];
  let longest = 0;
  for (const span of sorted) {
    const last = merged.at(-1);
    const length = span.end - span.start;
    if (!last || span.start >= last.end) {
      merged.push(span);
      longest = length;
      continue;
    }
    const label = length > longest ? span.label : last.label;
    merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end), label };
    longest = Math.max(longest, length);
  }
  return merged;
}

function replaceSpans(
  text: string,
  position: number,
  spans: readonly SecretSpan[],
  placeholders: Gate["placeholders"],
): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, label } of spans) {
    parts.push(text.slice(at, start - position), placeholders.get(label) ?? "");
    at = end - position;
  }
  return parts.join("") + text.slice(at);
}

const MOST_LEVELS = 200;

function mapTexts(value: unknown, redact: (text: string) => string, level: number): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number") {
    const text = String(value);
    const safe = redact(text);
    return safe === text ? value : safe;
  }
  if (typeof value !== "object" || value === null) return value;
  if (level > MOST_LEVELS) return "[nested too deeply]";
  if (Array.isArray(value)) {
    const items = value.map((item) => mapTexts(item, redact, level + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return isPlain(value) ? mapEntries(value, redact, level + 1) : value;
}

/** Returns the same object if nothing in it changes, which is the usual case. */
function mapEntries(value: object, redact: (text: string) => string, level: number): object {
  let isChanged = false;
  const entries = Object.entries(value).map(([key, item]): readonly [string, unknown] => {
    const safe = [redact(key), mapTexts(item, redact, level)] as const;
    isChanged ||= safe[0] !== key || safe[1] !== item;
    return safe;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
