/**
 * Where a moment is drawn, from 0 to 1. A wait of days would leave no room for seconds of work, so stretches in which
 * a run only waits are shortened and marked. Pure.
 */
import type { TimelineSpan } from "./timeline.ts";

export interface TimeScale {
  place(time: number): number;
  /** How much time comes before a place, without what was shortened. */
  worked(place: number): number;
  /** The shortened stretches. */
  readonly cuts: readonly { readonly from: number; readonly to: number; readonly ms: number }[];
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  /** How much room each gets, in milliseconds of work. */
  readonly room: number;
}

const SHARE = 0.08;
const LEAST_ROOM_MS = 200;

export function buildScale(
  spans: readonly TimelineSpan[],
  range: { readonly from: number; readonly to: number },
  now: number,
  isWhole: boolean,
): TimeScale {
  const stretches = isWhole
    ? [{ from: range.from, to: range.to, room: Math.max(1, range.to - range.from) }]
    : shortenWaits(spans, range, now);
  const total = stretches.reduce((sum, { room }) => sum + room, 0) || 1;
  const starts: number[] = [];
  let at = 0;
  for (const { room } of stretches) {
    starts.push(at / total);
    at += room;
  }
  const share = (stretch: Stretch): number => stretch.room / total;
  return {
    place(time) {
      const index = findLast(stretches.length, (place) => (stretches[place]?.from ?? 0) <= time);
      const stretch = stretches[index];
      if (!stretch) return 0;
      const part = (time - stretch.from) / Math.max(1, stretch.to - stretch.from);
      return (starts[index] ?? 0) + Math.max(0, Math.min(1, part)) * share(stretch);
    },
    worked: (place) => place * total,
    cuts: stretches.flatMap((stretch, index) => {
      const { from, to, room } = stretch;
      const start = starts[index] ?? 0;
      return room < to - from ? [{ from: start, to: start + share(stretch), ms: to - from }] : [];
    }),
  };
}

/** The last index for which it holds; it also holds for all before. */
function findLast(count: number, isSo: (index: number) => boolean): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isSo(middle)) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

function shortenWaits(
  spans: readonly TimelineSpan[],
  { from, to }: { readonly from: number; readonly to: number },
  now: number,
): readonly Stretch[] {
  const gaps = findGaps(spans, from, to, now);
  const worked = gaps.reduce((sum, gap) => sum + (gap.isWait ? 0 : gap.to - gap.from), 0);
  const most = Math.max(worked * SHARE, LEAST_ROOM_MS);
  const stretches: Stretch[] = [];
  for (const gap of gaps) {
    const length = gap.to - gap.from;
    const room = gap.isWait ? Math.min(length, most) : length;
    stretches.push({ from: gap.from, to: gap.to, room });
  }
  return stretches.length === 0 ? [{ from, to, room: 1 }] : stretches;
}

/** The stretches between any two starts or ends, and whether the run only waited. */
function findGaps(
  spans: readonly TimelineSpan[],
  from: number,
  to: number,
  now: number,
): readonly { readonly from: number; readonly to: number; readonly isWait: boolean }[] {
  const changes = spans.flatMap(({ kind, begin, end = now }) => {
    const isWait = kind === "approval" || kind === "parked";
    // A child run, and the tool call that started it, may themselves wait.
    if (kind === "child" || kind === "tool")
      return [
        { at: begin, wait: 0, work: 0 },
        { at: end, wait: 0, work: 0 },
      ];
    const [wait, work] = isWait ? [1, 0] : [0, 1];
    return [
      { at: begin, wait, work },
      { at: end, wait: -wait, work: -work },
    ];
  });
  changes.sort((a, b) => a.at - b.at);
  const gaps: { from: number; to: number; isWait: boolean }[] = [];
  let [last, waits, works] = [from, 0, 0];
  for (const { at, wait, work } of [...changes, { at: to, wait: 0, work: 0 }]) {
    if (at > last) gaps.push({ from: last, to: at, isWait: waits > 0 && works === 0 });
    last = Math.max(last, at);
    waits += wait;
    works += work;
  }
  return gaps;
}
