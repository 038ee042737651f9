/** What comes of reading an address: the address, or why it is none and what to write instead. */
import type { SourceAddress } from "../source-address.ts";

export interface RefusedAddress {
  readonly ok: false;
  readonly message: string;
  readonly hint: string;
}

export type AddressOutcome = { readonly ok: true; readonly address: SourceAddress } | RefusedAddress;

export function refuseAddress(message: string, hint: string): RefusedAddress {
  return { ok: false, message, hint };
}
