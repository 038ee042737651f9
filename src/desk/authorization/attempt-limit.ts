/** Slows down whoever guesses: after some wrong answers in a row, none is looked at for a while. */
export interface AttemptLimit {
  isBlocked(subject: string): boolean;
  noteWrong(subject: string): void;
  noteRight(subject: string): void;
}

const MOST_WRONG = 5;
const BLOCKED_MS = 60_000;
const MOST_SUBJECTS = 10_000;

export function createAttemptLimit(clock: () => number): AttemptLimit {
  const wrong = new Map<string, { count: number; lastAt: number }>();
  const isRecent = (subject: string): boolean =>
    clock() - (wrong.get(subject)?.lastAt ?? -Infinity) < BLOCKED_MS;
  return {
    isBlocked: (subject) => isRecent(subject) && (wrong.get(subject)?.count ?? 0) >= MOST_WRONG,
    noteWrong(subject) {
      const count = isRecent(subject) ? (wrong.get(subject)?.count ?? 0) : 0;
      // Names are free to invent, and must not fill the memory.
      if (wrong.size >= MOST_SUBJECTS) wrong.clear();
      wrong.set(subject, { count: count + 1, lastAt: clock() });
    },
    noteRight(subject) {
      wrong.delete(subject);
    },
  };
}
