/** Mean, spread and difference of measurements. Pure. */

export interface Spread {
  readonly mean: number;
  /** Of a sample, so that few runs do not look certain; 0 for one run. */
  readonly stddev: number;
  readonly min: number;
  readonly max: number;
}

const NOTHING: Spread = { mean: 0, stddev: 0, min: 0, max: 0 };

export function describeSpread(values: readonly number[]): Spread {
  if (values.length === 0) return NOTHING;
  const mean = sum(values) / values.length;
  const squares = sum(values.map((value) => (value - mean) ** 2));
  return {
    mean: round(mean),
    stddev: round(values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1))),
    min: round(Math.min(...values)),
    max: round(Math.max(...values)),
  };
}

export function difference(a: Spread, b: Spread): number {
  return round(a.mean - b.mean);
}

/** Parts of a whole; of nothing, none. */
export function rate(part: number, whole: number): number {
  return whole === 0 ? 0 : round(part / whole);
}

/** To four places: what is behind them is noise, and would make two equal results look different. */
function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
