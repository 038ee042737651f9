/** Numbers, sizes and times for people. Pure. */

const WHOLE = new Intl.NumberFormat("en-US");
const MONEY = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 4,
});

/** `1 run`, `2,000 runs`. */
export function countOf(number: number, noun: string, many = `${noun}s`): string {
  return `${WHOLE.format(number)} ${number === 1 ? noun : many}`;
}

export function formatNumber(number: number): string {
  return WHOLE.format(number);
}

/** `950`, `12.3k`, `4.1M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 10_000) return WHOLE.format(tokens);
  if (tokens < 1_000_000) return `${(tokens / 1000).toFixed(tokens < 100_000 ? 1 : 0)}k`;
  return `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function formatCost(cost: number | undefined): string {
  return cost === undefined ? "–" : MONEY.format(cost);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

/** `420 ms`, `3.2 s`, `4 min 5 s`, `2 h 10 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 48 * 60
    ? `${Math.floor(minutes / 60)} h ${minutes % 60} min`
    : `${Math.round(minutes / 1440)} d`;
}

const RELATIVE = new Intl.RelativeTimeFormat("en-US", { numeric: "auto", style: "short" });
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];
/** Made once: a scrolling list of times has no time to make them. */
const DATE = new Intl.DateTimeFormat("en-CA");
const TIME = new Intl.DateTimeFormat("en-CA", { dateStyle: "short", timeStyle: "long", hour12: false });
const OLD_MS = 30 * 86_400_000;

/** `now`, `5 min. ago`, `in 2 hr.`; a date after a month. */
export function formatRelative(at: number, now: number): string {
  const distance = at - now;
  if (Math.abs(distance) > OLD_MS) return DATE.format(at);
  const [unit, size] = UNITS.find(([, ms]) => Math.abs(distance) >= ms) ?? [];
  if (unit === undefined || size === undefined) return "now";
  return RELATIVE.format(Math.trunc(distance / size), unit);
}

export function formatTime(at: number): string {
  return TIME.format(at);
}

export function formatPercent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** The first characters of an id or digest: enough to tell two apart. */
export function shortId(text: string, most = 12): string {
  const plain = text.replace(/^sha256:/, "");
  return plain.length <= most ? plain : `${plain.slice(0, most)}…`;
}
