/**
 * Which addresses are not the public internet: the special-purpose registries of IANA, and the metadata services of
 * clouds that have a public-looking address. Whatever is no address is not public either.
 */
import { BlockList, isIP } from "node:net";

type Family = "ipv4" | "ipv6";

/** Of IPv6 only `2000::/3` is given out; the rows leave that and take their share of it. */
const ROWS: readonly (readonly [subnet: string, what: string])[] = [
  ["0.0.0.0/8", "an unspecified address"],
  ["10.0.0.0/8", "a private address"],
  ["100.64.0.0/10", "an address of a carrier's own network"],
  ["127.0.0.0/8", "a loopback address"],
  ["168.63.129.16/32", "the metadata service of a cloud"],
  ["169.254.0.0/16", "a link-local address, as metadata services use"],
  ["172.16.0.0/12", "a private address"],
  ["192.0.0.0/24", "an address reserved for protocols"],
  ["192.0.2.0/24", "an address for documentation"],
  ["192.88.99.0/24", "an address of 6to4 relays"],
  ["192.168.0.0/16", "a private address"],
  ["198.18.0.0/15", "an address for benchmarks"],
  ["198.51.100.0/24", "an address for documentation"],
  ["203.0.113.0/24", "an address for documentation"],
  ["224.0.0.0/4", "a multicast address"],
  ["240.0.0.0/4", "a reserved address"],
  ["::/128", "the unspecified address"],
  ["::1/128", "the loopback address"],
  ["::ffff:0:0/96", "an IPv4 address in IPv6 form"],
  ["64:ff9b::/96", "an IPv4 address behind NAT64"],
  ["64:ff9b:1::/48", "an IPv4 address behind NAT64"],
  ["::/3", "a reserved address"],
  ["2001::/32", "an IPv4 address in a Teredo tunnel"],
  ["2001::/23", "an address reserved for protocols"],
  ["2001:db8::/32", "an address for documentation"],
  ["2002::/16", "an IPv4 address in a 6to4 tunnel"],
  ["3fff::/20", "an address for documentation"],
  ["fc00::/7", "a private address"],
  ["fe80::/10", "a link-local address"],
  ["fec0::/10", "a private address"],
  ["ff00::/8", "a multicast address"],
  ["4000::/2", "a reserved address"],
  ["8000::/1", "a reserved address"],
];

interface SpecialBlock {
  readonly family: Family;
  readonly block: BlockList;
  readonly what: string;
}

const BLOCKS: readonly SpecialBlock[] = ROWS.map(([subnet, what]) => {
  const [start = "", prefix] = subnet.split("/");
  const family: Family = start.includes(":") ? "ipv6" : "ipv4";
  const block = new BlockList();
  block.addSubnet(start, Number(prefix), family);
  return { family, block, what };
});

/** What a special address is, as `a loopback address`; `undefined` for a public one. */
export function nameSpecialAddress(address: string): string | undefined {
  const version = isIP(address);
  if (version === 0) return "no address";
  if (address.includes("%")) return "an address of one network interface";
  const family: Family = version === 4 ? "ipv4" : "ipv6";
  // Only rows of the same family: a block list takes any IPv4 address for a part of `::/3`.
  return BLOCKS.find((row) => row.family === family && row.block.check(address, family))?.what;
}

export function isPublicAddress(address: string): boolean {
  return nameSpecialAddress(address) === undefined;
}
