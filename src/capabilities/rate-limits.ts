/**
 * How often one user may call one capability, sign-ins included: so many times in any minute. Kept in memory, for as many
 * as call.
 */
import { type Answer, refuse } from "./capability-fault.ts";

export interface RateLimits {
  /** Counts the call, or says after how many seconds there is room for it. */
  take(userId: string, capability: string): number | undefined;
}

/** Why the call is not made; it counts otherwise. */
export function refuseTooMany(
  limits: RateLimits,
  { userId }: { readonly userId: string },
  capability: string,
): Extract<Answer<never>, { readonly ok: false }> | undefined {
  const retryAfterSeconds = limits.take(userId, capability);
  if (retryAfterSeconds === undefined) return undefined;
  return refuse("capability_rate_limited", `\`${capability}\` was called too often in the last minute.`, {
    retryAfterSeconds,
    hint: `Wait ${retryAfterSeconds} seconds. \`[capabilities] rate-limit\` sets how many calls a minute are allowed.`,
  });
}

export interface RateLimitOptions {
  readonly perMinute: number;
  readonly now?: () => number;
}

const MINUTE_MS = 60_000;
/** Beyond that the ones that have not called for longest are forgotten. */
const MOST_COUNTED = 10_000;

export function createRateLimits({ perMinute, now = Date.now }: RateLimitOptions): RateLimits {
  /** Times of the calls of the last minute, oldest first; by who called last. */
  const calls = new Map<string, readonly number[]>();
  return {
    take(userId, capability) {
      const key = JSON.stringify([userId, capability]);
      const time = now();
      const recent = (calls.get(key) ?? []).filter((at) => time - at < MINUTE_MS);
      const [oldest = time] = recent;
      if (recent.length >= perMinute) return Math.max(1, Math.ceil((oldest + MINUTE_MS - time) / 1000));
      calls.delete(key);
      calls.set(key, [...recent, time]);
      if (calls.size > MOST_COUNTED) calls.delete(calls.keys().next().value ?? key);
      return undefined;
    },
  };
}
