/** How many tool calls of a run are under way at once, and how many one step may have: a model can ask for thousands. */
export interface CallSlots {
  /** Counts one more call of this step: whether it may still be carried out. */
  admit(step: number): boolean;
  /** Begins as soon as there is room; first come, first served. */
  run<Value>(call: () => Promise<Value>): Promise<Value>;
}

export const MOST_CALLS_PER_STEP = 100;
const MOST_AT_ONCE = 8;

export function createCallSlots(): CallSlots {
  const waiting: (() => void)[] = [];
  let free = MOST_AT_ONCE;
  let current = 0;
  let counted = 0;
  return {
    admit(step) {
      if (step !== current) [current, counted] = [step, 0];
      counted += 1;
      return counted <= MOST_CALLS_PER_STEP;
    },
    async run(call) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await call();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
