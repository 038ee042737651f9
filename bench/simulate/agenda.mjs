/** What happens when, in simulated milliseconds: a heap of things to do, earliest first. */

/** @typedef {{ readonly at: number, readonly order: number, readonly work: () => void }} Entry */

/**
 * @typedef {object} Agenda
 * @property {number} now
 * @property {(delay: number, work: () => void) => void} after
 * @property {(until: number) => void} runUntil does everything due up to then; later things stay
 * @property {() => void} runAll until nothing is left
 * @property {number} done how much has happened
 */

/** @returns {Agenda} */
export function createAgenda() {
  /** @type {Entry[]} */
  const heap = [];
  let order = 0;
  /** @type {Agenda} */
  const agenda = {
    now: 0,
    done: 0,
    after(delay, work) {
      order += 1;
      push(heap, { at: agenda.now + delay, order, work });
    },
    runUntil(until) {
      for (let first = heap[0]; first !== undefined && first.at <= until; first = heap[0]) perform(first);
      agenda.now = Math.max(agenda.now, Math.min(until, Number.MAX_VALUE));
    },
    runAll() {
      for (let first = heap[0]; first !== undefined; first = heap[0]) perform(first);
    },
  };
  /** @param {Entry} first */
  function perform(first) {
    removeFirst(heap);
    agenda.now = first.at;
    agenda.done += 1;
    first.work();
  }
  return agenda;
}

/** @param {Entry} one @param {Entry} other */
function isBefore(one, other) {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** @param {Entry[]} heap @param {Entry} entry */
function push(heap, entry) {
  let index = heap.length;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = /** @type {Entry} */ (heap[above]);
    if (!isBefore(entry, parent)) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = entry;
}

/** @param {Entry[]} heap */
function removeFirst(heap) {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (let child = 1; child < heap.length; child = 2 * index + 1) {
    const right = heap[child + 1];
    if (right !== undefined && isBefore(right, /** @type {Entry} */ (heap[child]))) child += 1;
    const lower = /** @type {Entry} */ (heap[child]);
    if (!isBefore(lower, last)) break;
    heap[index] = lower;
    index = child;
  }
  heap[index] = last;
}
