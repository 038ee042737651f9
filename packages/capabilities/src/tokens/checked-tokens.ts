/**
 * Tokens whose form, signature and claims were checked already: a command that asks a hundred times brings the same one each
 * time. Only the very same text counts, only while its claims hold; whether it was revoked is asked each time elsewhere.
 */
import { dropOldest } from "@metier/base/turns";
import type { VerifiedToken } from "./read-token.ts";

interface CheckedTokens {
  recall(token: string | undefined, now: number): VerifiedToken | undefined;
  keep(token: string, verified: VerifiedToken, now: number): void;
}

/** Beyond that the one that was checked first is forgotten, and checked again when it comes. */
const MOST_KEPT = 256;
/** Longer texts are checked each time rather than kept. */
const LONGEST_KEPT = 16 * 1024;

export function rememberChecked(): CheckedTokens {
  const kept = new Map<string, { readonly verified: VerifiedToken; readonly from: number }>();
  return {
    recall(token, now) {
      const found = token === undefined ? undefined : kept.get(token);
      if (token === undefined || found === undefined) return undefined;
      // A clock that was put back may make a token one of the future.
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
