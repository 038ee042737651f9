/**
 * The second half of the egress gate: where a host leads. All its addresses must be public, since a name that mixes
 * public and private ones is a trick more often than a mistake; and only what was checked here may be dialled.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type EgressFault, refuseEgress } from "./egress-fault.ts";
import { isPublicAddress, nameSpecialAddress } from "./special-addresses.ts";

/** How the gate asks the machine. Only tests, which talk to loopback, give another one. */
export interface AddressBook {
  resolve(host: string): Promise<readonly string[]>;
  isPublic(address: string): boolean;
}

export const SYSTEM_ADDRESSES: AddressBook = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
};

export type ResolveOutcome = { readonly ok: true; readonly addresses: readonly string[] } | EgressFault;

export async function resolvePublic(host: string, book: AddressBook): Promise<ResolveOutcome> {
  const addresses = isIP(host) ? [host] : await resolveName(host, book);
  if (addresses.length === 0) {
    return refuseEgress("unresolved", `\`${host}\` has no address. Check the spelling, and the network.`);
  }
  const special = addresses.find((address) => isIP(address) === 0 || !book.isPublic(address));
  if (special === undefined) return { ok: true, addresses };
  const what = nameSpecialAddress(special) ?? "not a public address";
  const which = special === host ? `\`${host}\` is ${what}` : `\`${host}\` leads to \`${special}\`, ${what}`;
  return refuseEgress("private-address", `${which}; only public addresses are reached.`);
}

async function resolveName(host: string, book: AddressBook): Promise<readonly string[]> {
  try {
    return await book.resolve(host);
  } catch {
    return []; // Whatever the resolver's fault was, there is no address to go to.
  }
}
