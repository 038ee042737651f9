/**
 * Text with what differs between two runs of the same thing replaced: folders, run ids, the clock, measured durations
 * and random ids. Only what the run itself brought along is replaced: a date that is not today's is data.
 */
export interface RunPlace {
  readonly runId?: string;
  readonly workDir?: string;
  readonly skillDir?: string;
  readonly cwd?: string;
  /** Of the run that started it; its folders may stand in what it passed on. */
  readonly parent?: RunPlace;
  /** When the run took place, in milliseconds since 1970: times between the two are the clock's. */
  readonly clock?: { readonly from: number; readonly to: number };
}

export function toPlaceholders(text: string, place: RunPlace): string {
  const named = namesOf(place).reduce(
    (rest, [name, placeholder]) => replaceName(rest, name, placeholder),
    text,
  );
  const timeless = place.clock ? replaceTimes(named, place.clock) : named;
  return timeless.replace(RANDOM_UUID, "<uuid>").replace(MEASURED, "<duration>");
}

/** Longest first: a skill's folder may lie in the working directory. Of equal ones the own name counts. */
function namesOf(place: RunPlace): readonly (readonly [string, string])[] {
  const names = new Map<string, string>();
  let prefix = "";
  for (let level: RunPlace | undefined = place; level; level = level.parent, prefix = `${prefix}parent-`) {
    const { runId, workDir, skillDir, cwd } = level;
    const found = { run: runId, work: workDir, skill: skillDir, cwd };
    for (const [word, name = ""] of Object.entries(found)) {
      if (name.length > 1 && !names.has(name)) names.set(name, `<${prefix}${word}>`);
    }
  }
  return [...names].sort(([a], [b]) => b.length - a.length);
}

/** Whole names only: `/a/b` is neither part of `/a/bc` nor of `/x/a/b`. */
function replaceName(text: string, name: string, placeholder: string): string {
  const whole = `(?<![\\w.-])${escapePattern(name)}(?![\\w-]|\\.\\w)`;
  return text.replace(new RegExp(whole, "g"), () => placeholder);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** Versions 4 and 7: the others say something. */
const RANDOM_UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/gi;

/** `0.12s` and `423 ms` were measured; `30s` and `2 minutes` are more likely what someone set, and are compared. */
const MEASURED = /(?<![\w.])(?:\d+\.\d+ ?(?:s|secs?|seconds?|ms|µs|us|ns)|\d+ ?(?:ms|µs|us|ns))\b/g;

const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const TIME = "\\d\\d:\\d\\d:\\d\\d";
const DATE_TIMES: readonly RegExp[] = [
  /(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?(?:UTC|[+-]\d\d:?\d\d))?/g,
  new RegExp(`\\b${DAY}, \\d{1,2} ${MONTH} \\d{4} ${TIME} (?:GMT|UTC|[+-]\\d{4})`, "g"),
  new RegExp(`\\b${DAY} ${MONTH} [ \\d]\\d ${TIME}(?: (?:GMT|UTC))? \\d{4}`, "g"),
];
/** Seconds, or milliseconds, micro- or nanoseconds since 1970. */
const EPOCH = /(?<![\w.])\d{10}(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?(?![\w]|\.\d)/g;
const DATE = /(?<![\d-])\d{4}-\d\d-\d\d(?![\d-]|[T ]\d\d:\d\d)/g;

/** Clocks are cut to seconds, and files are stamped a little after. */
const MARGIN_MS = 2000;

function replaceTimes(text: string, { from, to }: NonNullable<RunPlace["clock"]>): string {
  const isNow = (time: number): boolean => time >= from - MARGIN_MS && time <= to + MARGIN_MS;
  const days = new Set([from, to].flatMap((time) => [utcDay(time), localDay(time)]));
  let rest = text;
  for (const pattern of DATE_TIMES) {
    rest = rest.replace(pattern, (written) => (readTimes(written).some(isNow) ? "<time>" : written));
  }
  rest = rest.replace(EPOCH, (digits) => (isNow(readEpoch(digits)) ? "<time>" : digits));
  return rest.replace(DATE, (day) => (days.has(day) ? "<date>" : day));
}

/** A time without a zone may be of here or of UTC. */
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

function utcDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function localDay(time: number): string {
  return utcDay(time - new Date(time).getTimezoneOffset() * 60_000);
}
