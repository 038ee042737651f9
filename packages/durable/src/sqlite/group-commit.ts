/**
 * Changes of many runs in one transaction: what is requested in one turn of the event loop is committed together, in
 * request order, and flushed together. Nobody gets an answer before that. A change that fails doesn't affect the
 * others.
 */
import type { LogFlusher } from "./flush-log.ts";

interface ChangeGroup {
  /**
   * `isKept`: answered only when it survives a power cut. `make` may be called twice, and must not wait for anything.
   */
  join<Value>(make: () => Value, isKept: boolean): Promise<Value>;
  /** Commits everything pending at once. */
  settle(): void;
}

interface Waiting {
  readonly isKept: boolean;
  /** Makes the change, and returns the function that answers once it is committed. */
  make(): () => void;
  fail(fault: unknown): void;
}

export function groupChanges(transact: <Value>(make: () => Value) => Value, log: LogFlusher): ChangeGroup {
  let waiting: Waiting[] = [];
  let turn: NodeJS.Immediate | undefined;

  const settle = (): void => {
    clearImmediate(turn);
    turn = undefined;
    const group = waiting;
    waiting = [];
    if (group.length > 0) answer(commit(transact, group), log);
  };
  return {
    settle,
    join<Value>(make: () => Value, isKept: boolean) {
      return new Promise<Value>((resolve, reject) => {
        const change = (): (() => void) => {
          const value = make();
          return () => resolve(value);
        };
        waiting.push({ isKept, make: change, fail: reject });
        turn ??= setImmediate(settle);
      });
    },
  };
}

interface Committed {
  readonly change: Waiting;
  readonly succeed: () => void;
}

/** All together; if one fails, each separately, so that it fails alone. */
function commit(
  transact: <Value>(make: () => Value) => Value,
  group: readonly Waiting[],
): readonly Committed[] {
  const makeAll = (changes: readonly Waiting[]): readonly Committed[] =>
    transact(() => changes.map((change) => ({ change, succeed: change.make() })));
  try {
    return makeAll(group);
  } catch (fault) {
    const [only] = group;
    if (only && group.length === 1) {
      only.fail(fault);
      return [];
    }
    return group.flatMap((change) => commit(transact, [change]));
  }
}

function answer(committed: readonly Committed[], log: LogFlusher): void {
  const kept = committed.filter(({ change }) => change.isKept);
  if (kept.length > 0) {
    log.flush().then(
      () => {
        for (const { succeed } of kept) succeed();
      },
      (fault: unknown) => {
        for (const { change } of kept) change.fail(fault);
      },
    );
  }
  for (const { change, succeed } of committed) if (!change.isKept) succeed();
}
