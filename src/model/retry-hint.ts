/** How long a provider asks to wait, in milliseconds, by the headers of its refusal. */
type Headers = Readonly<Record<string, string | undefined>>;

export function readRetryHint(headers: Headers, now: number): number | undefined {
  const milliseconds = readNumber(headers["retry-after-ms"]);
  if (milliseconds !== undefined) return milliseconds;
  const after = headers["retry-after"];
  if (after !== undefined) {
    const seconds = readNumber(after);
    return seconds === undefined ? untilTime(Date.parse(after), now) : seconds * 1000;
  }
  const resets = Object.entries(headers).filter(([name]) => RESET_HEADER.test(name));
  // Whichever limit was hit, after the last of them none holds.
  const waits = resets.map(([, value = ""]) => readReset(value, now)).filter((wait) => wait !== undefined);
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** `x-ratelimit-reset`, `x-ratelimit-reset-tokens`, `anthropic-ratelimit-requests-reset`. */
const RESET_HEADER = /^(?:x-ratelimit-reset(?:-\w+)?|anthropic-ratelimit-[\w-]+-reset)$/;

/** A moment, or a span such as `6m0s`; a bare number is a moment when it is large. */
function readReset(value: string, now: number): number | undefined {
  const number = readNumber(value);
  if (number !== undefined) {
    if (number > 1e12) return untilTime(number, now);
    return number > 1e9 ? untilTime(number * 1000, now) : number * 1000;
  }
  return readSpan(value) ?? untilTime(Date.parse(value), now);
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

function readSpan(value: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(value)) return undefined;
  const parts = value.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g);
  return [...parts].reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNITS[unit] ?? 0), 0);
}

function readNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

function untilTime(time: number, now: number): number | undefined {
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
