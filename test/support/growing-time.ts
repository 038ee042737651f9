/** For work that a time limit ends: how long it needs until it has begun is the machine's affair, and no test's. */

/** Does it again with three times the time, until the limit ended it after it had begun. */
export async function withGrowingTime<Outcome>(
  work: (timeoutMs: number) => Promise<Outcome>,
  hasBegun: (outcome: Outcome) => boolean,
): Promise<{ readonly outcome: Outcome; readonly timeoutMs: number }> {
  for (let timeoutMs = 500; ; timeoutMs *= 3) {
    const outcome = await work(timeoutMs);
    if (hasBegun(outcome)) return { outcome, timeoutMs };
  }
}
