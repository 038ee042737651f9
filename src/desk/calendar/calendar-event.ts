/** An event, read from its component: what it is, when it is, when it is again and when not. */
import { cleanLine, cleanText } from "../../disclose/clean-text.ts";
import { readText } from "./content-lines.ts";
import { type EventComponent, propertyOf } from "./event-components.ts";
import { type EventTime, keyOf, readDuration, readTimes } from "./event-time.ts";
import { type RecurrenceRule, readRule } from "./recurrence-rule.ts";
import { DAY_MS } from "./zoned-time.ts";

export interface CalendarEvent {
  readonly uid: string;
  readonly title: string;
  readonly location: string;
  readonly description: string;
  readonly status: "confirmed" | "tentative" | "cancelled";
  readonly start: EventTime;
  readonly durationMs: number;
  readonly rule?: RecurrenceRule;
  /** It recurs in a way that is not understood here: only its first time is known. */
  readonly isRuleUnclear: boolean;
  readonly excluded: readonly EventTime[];
  readonly added: readonly EventTime[];
  /** It stands for one time of a recurring event, by the key of that time. */
  readonly replaces?: number;
}

const MAX_LINE = 300;
const MAX_DESCRIPTION = 2_000;
const MAX_DURATION_MS = 3_660 * DAY_MS;
const STATUSES = { TENTATIVE: "tentative", CANCELLED: "cancelled" } as const;

/** `undefined`: it has no start or no identity. */
export function readEvent(component: EventComponent, zone: string): CalendarEvent | undefined {
  const textOf = (name: string): string => readText(propertyOf(component, name)?.value ?? "");
  const timesOf = (name: string): readonly EventTime[] =>
    component.properties.filter((line) => line.name === name).flatMap((line) => readTimes(line, zone));
  const [start] = timesOf("DTSTART");
  const uid = cleanLine(textOf("UID"));
  if (!start || uid === "") return undefined;
  const ruleText = propertyOf(component, "RRULE")?.value;
  const rule = ruleText === undefined ? undefined : readRule(ruleText, start.zone);
  const [replaces] = timesOf("RECURRENCE-ID");
  const status = textOf("STATUS").trim().toUpperCase();
  return {
    uid,
    title: cleanLine(textOf("SUMMARY")).slice(0, MAX_LINE),
    location: cleanLine(textOf("LOCATION")).slice(0, MAX_LINE),
    description: cleanText(textOf("DESCRIPTION")).text.slice(0, MAX_DESCRIPTION),
    status: STATUSES[status as keyof typeof STATUSES] ?? "confirmed",
    start,
    durationMs: durationOf(start, timesOf("DTEND")[0], propertyOf(component, "DURATION")?.value),
    ...(rule && { rule }),
    isRuleUnclear: ruleText !== undefined && rule === undefined,
    excluded: timesOf("EXDATE"),
    added: timesOf("RDATE"),
    ...(replaces && { replaces: keyOf(replaces) }),
  };
}

function durationOf(start: EventTime, end: EventTime | undefined, written: string | undefined): number {
  const given = end ? keyOf(end) - keyOf(start) : readDuration(written ?? "");
  const least = start.isDay ? DAY_MS : 0;
  return Math.min(Math.max(given ?? 0, least), MAX_DURATION_MS);
}
