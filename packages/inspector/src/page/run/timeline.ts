/**
 * A run as spans with a start and an end, for the waterfall: model calls, tool calls, waits, hooks, capability calls,
 * and the runs it started with their own spans below. A span in progress has no end. Pure.
 */
import type { ApiRunEvent } from "@metier/service/api";
import { eventText, numberOf, timeOf } from "./read-event.ts";
import { capabilityName } from "./steps.ts";

export type SpanKind = "model" | "tool" | "approval" | "parked" | "child" | "hook" | "capability";

export interface TimelineSpan {
  readonly id: string;
  readonly kind: SpanKind;
  readonly label: string;
  readonly runId: string;
  readonly step?: number | undefined;
  /** 0 for the run itself; more inside something else. */
  readonly depth: number;
  readonly begin: number;
  /** Absent while it is in progress. */
  readonly end?: number | undefined;
  readonly isBad: boolean;
}

interface OpenSpan extends Omit<TimelineSpan, "end" | "isBad"> {
  end?: number | undefined;
  isBad: boolean;
}

/** `byRun`: the events of runs that others started. */
export function buildTimeline(
  events: readonly ApiRunEvent[],
  byRun: ReadonlyMap<string, readonly ApiRunEvent[]> = new Map(),
): readonly TimelineSpan[] {
  return readSpans(events, byRun, 0, new Set());
}

function readSpans(
  events: readonly ApiRunEvent[],
  byRun: ReadonlyMap<string, readonly ApiRunEvent[]>,
  depth: number,
  above: ReadonlySet<string>,
): readonly TimelineSpan[] {
  const spans: OpenSpan[] = [];
  const open = new Map<string, OpenSpan>();
  const nested = new Map<OpenSpan, readonly TimelineSpan[]>();
  const reading: Reading = { spans, open, depth, lastAt: 0 };
  for (const event of events) {
    READERS[event.type]?.(reading, event);
    const childId = event.type === "child-started" ? (eventText(event, "childRunId") ?? "") : "";
    const child = byRun.get(childId);
    const span = spans.at(-1);
    if (child && span?.kind === "child" && !above.has(childId)) {
      nested.set(span, readSpans(child, byRun, depth + 1, new Set([...above, childId])));
      const last = child.at(-1);
      if (last?.type === "run-finished") endSpan(reading, `child ${childId}`, timeOf(last), isBadEnd(last));
    }
    reading.lastAt = timeOf(event);
  }
  return orderSpans(spans, nested);
}

/** Sorted by start; a child's spans follow it. */
function orderSpans(
  spans: readonly OpenSpan[],
  nested: ReadonlyMap<OpenSpan, readonly TimelineSpan[]>,
): readonly TimelineSpan[] {
  return spans
    .map((span, index) => ({ span, index }))
    .sort((a, b) => a.span.begin - b.span.begin || a.span.depth - b.span.depth || a.index - b.index)
    .flatMap(({ span }) => [span, ...(nested.get(span) ?? [])]);
}

interface Reading {
  readonly spans: OpenSpan[];
  /** Unfinished spans, by what ends them. */
  readonly open: Map<string, OpenSpan>;
  readonly depth: number;
  /** The time of the previous event. */
  lastAt: number;
}

const READERS: Readonly<Record<string, (reading: Reading, event: ApiRunEvent) => void>> = {
  "model-called": (reading, event) => beginSpan(reading, event, "model", "model", "Model"),
  "model-answered": (reading, event) => endSpan(reading, "model", timeOf(event), false),
  "model-retried": (reading) => {
    const span = reading.open.get("model");
    if (span) span.isBad = true;
  },
  "tool-called": (reading, event) =>
    beginSpan(
      reading,
      event,
      "tool",
      `tool ${eventText(event, "callId")}`,
      eventText(event, "tool") ?? "Tool",
    ),
  "tool-finished": (reading, event) =>
    endSpan(reading, `tool ${eventText(event, "callId")}`, timeOf(event), event.isError === true),
  "approval-asked": (reading, event) =>
    beginSpan(
      reading,
      event,
      "approval",
      `approval ${eventText(event, "questionId")}`,
      `Approval of ${eventText(event, "tool") ?? "a call"}`,
    ),
  "approval-answered": (reading, event) =>
    endSpan(
      reading,
      `approval ${eventText(event, "questionId")}`,
      timeOf(event),
      eventText(event, "status") !== "approved",
    ),
  "run-resumed": resume,
  "child-started": (reading, event) =>
    beginSpan(
      reading,
      event,
      "child",
      `child ${eventText(event, "childRunId")}`,
      eventText(event, "skill") ?? "Run",
    ),
  "hook-finished": (reading, event) =>
    addFinished(reading, event, "hook", eventText(event, "hook") ?? "Hook", event.outcome !== "allow"),
  "capability-called": (reading, event) =>
    addFinished(
      reading,
      event,
      "capability",
      capabilityName(event),
      event.outcome !== "ok" && event.outcome !== "repeat",
    ),
  "run-finished": (reading, event) => {
    for (const key of [...reading.open.keys()]) endSpan(reading, key, timeOf(event), false);
  },
};

const INNER: ReadonlySet<SpanKind> = new Set(["hook", "capability"]);

function makeSpan(reading: Reading, event: ApiRunEvent, kind: SpanKind, label: string): OpenSpan {
  return {
    id: `${event.runId}-${event.seq}-${reading.spans.length}`,
    kind,
    label,
    runId: event.runId,
    step: numberOf(event, "step"),
    depth: reading.depth * 2 + (INNER.has(kind) ? 1 : 0),
    begin: timeOf(event),
    isBad: false,
  };
}

function beginSpan(reading: Reading, event: ApiRunEvent, kind: SpanKind, key: string, label: string): void {
  const span = makeSpan(reading, event, kind, label);
  // A step that another process repeats starts again what was started before.
  const before = reading.open.get(key);
  if (before) before.end ??= reading.lastAt;
  span.isBad = event.decision === "deny";
  reading.spans.push(span);
  reading.open.set(key, span);
}

function endSpan(reading: Reading, key: string, at: number, isBad: boolean): void {
  const span = reading.open.get(key);
  if (!span) return;
  span.end = Math.max(at, span.begin);
  span.isBad ||= isBad;
  reading.open.delete(key);
}

/** For what is reported only at its end. */
function addFinished(
  reading: Reading,
  event: ApiRunEvent,
  kind: SpanKind,
  label: string,
  isBad: boolean,
): void {
  const end = timeOf(event);
  const begin = end - (numberOf(event, "durationMs") ?? 0);
  reading.spans.push({ ...makeSpan(reading, event, kind, label), begin, end, isBad });
}

const LEAST_PARKED_MS = 1;

/** Nobody worked on the run since the last event, unless it waited for an answer, which has its own span. */
function resume(reading: Reading, event: ApiRunEvent): void {
  const { lastAt, open, spans } = reading;
  const at = timeOf(event);
  for (const [key, span] of open) {
    if (span.kind !== "model" && span.kind !== "tool") continue;
    span.end = lastAt;
    open.delete(key);
  }
  const isWaiting = [...open.values()].some(({ kind }) => kind === "approval");
  if (isWaiting || lastAt === 0 || at - lastAt < LEAST_PARKED_MS) return;
  spans.push({ ...makeSpan(reading, event, "parked", "Parked"), begin: lastAt, end: at });
}

function isBadEnd(event: ApiRunEvent): boolean {
  return eventText(event, "status") !== "completed";
}

/** How long a run was worked on, and how long it waited for a person or a worker. */
export function measure(
  spans: readonly TimelineSpan[],
  now: number,
): { readonly waitedMs: number; readonly from: number; readonly to: number } {
  const waits = spans
    .filter(({ kind }) => kind === "approval" || kind === "parked")
    .map(({ begin, end = now }) => [begin, end] as const);
  let waitedMs = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [begin, end] of waits.toSorted(([a], [b]) => a - b)) {
    waitedMs += Math.max(0, end - Math.max(begin, until));
    until = Math.max(until, end);
  }
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const { begin, end = now } of spans) {
    from = Math.min(from, begin);
    to = Math.max(to, end);
  }
  return spans.length === 0 ? { waitedMs: 0, from: now, to: now } : { waitedMs, from, to };
}
