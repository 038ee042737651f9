/** Waiting that ends with the run: for a person who may never answer, or a tool that does not listen to its signal. */

/** `undefined` once the signal has come and the time of grace is over; the work itself goes on unobserved. */
export async function untilStopped<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  graceMs = 0,
): Promise<Value | undefined> {
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => resolve(undefined), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  }
}
