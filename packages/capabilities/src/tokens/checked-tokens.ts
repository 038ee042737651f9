/**
 * Caches tokens whose form, signature and claims were checked: a command that asks a hundred times brings the same one
 * each time. Only the identical text counts, while its claims are valid; revocation is always checked elsewhere.
 */
import { dropOldest } from "@metier/base/turns";
import type { VerifiedToken } from "./read-token.ts";

interface CheckedTokens {
  recall(token: string | undefined, now: number): VerifiedToken | undefined;
  keep(token: string, verified: VerifiedToken, now: number): void;
}

/** Beyond this, the oldest entry is forgotten and checked again when it returns. */
const MOST_KEPT = 256;
/** Longer texts are checked each time instead of cached. */
const LONGEST_KEPT = 16 * 1024;

export function rememberChecked(): CheckedTokens {
  const kept = new Map<string, { readonly verified: VerifiedToken; readonly from: number }>();
  return {
    recall(token, now) {
      const found = token === undefined ? undefined : kept.get(token);
      if (token === undefined || found === undefined) return undefined;
      // A clock that was set back may make a token appear to be from the future.
      if (now >= found.from && now < found.verified.endsAt) return found.verified;
      kept.delete(token);
      return undefined;
    },
    keep(token, verified, now) {
      if (token.length > LONGEST_KEPT) return;
      kept.set(token, { verified, from: now });
      dropOldest(kept, MOST_KEPT);
    },
  };
}
