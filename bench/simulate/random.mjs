/** Random numbers that repeat for the same seed. */

/**
 * @typedef {object} Random
 * @property {() => number} next from 0 up to 1
 * @property {(mean: number) => number} exponential times between random events
 * @property {(mean: number, spread: number) => number} lognormal mostly short, a few long; `spread` is the logarithm's
 * @property {(mean: number) => number} count whole, at least 1
 */

/** @param {number} seed a whole number @returns {Random} */
export function createRandom(seed) {
  let state = seed >>> 0;
  // Mulberry32: one more multiplication than the simplest generators, and good enough for queues.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return {
    next,
    exponential: (mean) => -mean * Math.log(1 - next()),
    lognormal: (mean, spread) => mean * Math.exp(spread * normal() - spread ** 2 / 2),
    count: (mean) => (mean <= 1 ? 1 : 1 + Math.floor(Math.log(1 - next()) / Math.log(1 - 1 / mean))),
  };
}
