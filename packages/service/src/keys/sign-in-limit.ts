/**
 * Slows down key guessing: after too many wrong keys from an address within a minute, that address is blocked. A
 * credential that has signed in from there before still works, so that one bad neighbor behind the same address locks
 * nobody out.
 */
import { createHash } from "node:crypto";
import { dropOldest } from "@metier/base/turns";

const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;
const MOST_KNOWN = 64;

interface AddressState {
  failures: number;
  endsAt: number;
  /** Digests of credentials that were right. */
  readonly known: Set<string>;
}

interface SignInLimit {
  /** Seconds until the address may try again; 0: now. */
  waitFor(address: string, credential: string, now: number): number;
  fail(address: string, now: number): void;
  succeed(address: string, credential: string, now: number): void;
}

export function createSignInLimit(mostFailures: number): SignInLimit {
  /** The one used last is last. */
  const states = new Map<string, AddressState>();
  const use = (address: string, now: number): AddressState => {
    const state = states.get(address) ?? { failures: 0, endsAt: 0, known: new Set() };
    if (state.endsAt <= now) Object.assign(state, { failures: 0, endsAt: now + WINDOW_MS });
    states.delete(address);
    states.set(address, state);
    dropOldest(states, MOST_ADDRESSES);
    return state;
  };
  return {
    waitFor(address, credential, now) {
      const state = states.get(address);
      if (state === undefined || state.endsAt <= now || state.failures < mostFailures) return 0;
      return state.known.has(mark(credential)) ? 0 : Math.ceil((state.endsAt - now) / 1000);
    },
    fail(address, now) {
      use(address, now).failures += 1;
    },
    succeed(address, credential, now) {
      const { known } = use(address, now);
      if (known.size < MOST_KNOWN) known.add(mark(credential));
    },
  };
}

function mark(credential: string): string {
  return createHash("sha256").update(credential).digest("base64");
}
