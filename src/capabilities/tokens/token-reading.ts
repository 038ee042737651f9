/** What reading a token gives: for whom it speaks, or which check it failed, and no more than that. */
import type { CapabilityCaller } from "../capability.ts";

export const TOKEN_FAULTS = {
  missing: "The request has no token, or no nonce.",
  format: "The token is not three parts with dots between them, or it or the nonce is too long.",
  decode: "A part of the token cannot be decoded.",
  header: "The token's header is none that is accepted here.",
  signature: "The token's signature does not fit.",
  claims: "The token is not for this, or not any more.",
  replayed: "The token and the nonce were used before.",
} as const;

export type TokenFaultCode = keyof typeof TOKEN_FAULTS;

export type TokenReading = { readonly ok: true; readonly caller: CapabilityCaller } | TokenFault;

export interface TokenFault {
  readonly ok: false;
  readonly code: TokenFaultCode;
  readonly message: string;
}

export function tokenFault(code: TokenFaultCode): TokenFault {
  return { ok: false, code, message: TOKEN_FAULTS[code] };
}
