import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublicAddress, nameSpecialAddress } from "../../src/egress/check-destination.ts";

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "168.63.129.15",
  "169.253.255.255",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "2a00:1450:4001:82a::200e",
  "2001:4860:4860::8888",
  "2001:200::1",
];

const SPECIAL: readonly (readonly [string, string])[] = [
  ["0.0.0.0", "an unspecified address"],
  ["0.1.2.3", "an unspecified address"],
  ["10.0.0.1", "a private address"],
  ["100.64.0.1", "a carrier network address"],
  ["100.100.100.200", "a carrier network address"],
  ["127.0.0.1", "a loopback address"],
  ["127.255.255.254", "a loopback address"],
  ["168.63.129.16", "a cloud metadata service"],
  ["169.254.169.254", "a link-local address, as used by metadata services"],
  ["172.16.0.1", "a private address"],
  ["172.31.255.255", "a private address"],
  ["192.0.0.192", "an address reserved for protocols"],
  ["192.0.2.1", "a documentation address"],
  ["192.88.99.1", "a 6to4 relay address"],
  ["192.168.1.1", "a private address"],
  ["198.18.0.1", "a benchmark address"],
  ["198.19.255.255", "a benchmark address"],
  ["198.51.100.7", "a documentation address"],
  ["203.0.113.7", "a documentation address"],
  ["224.0.0.1", "a multicast address"],
  ["239.255.255.255", "a multicast address"],
  ["240.0.0.1", "a reserved address"],
  ["255.255.255.255", "a reserved address"],
  ["::", "the unspecified address"],
  ["::1", "the loopback address"],
  ["::127.0.0.1", "a reserved address"],
  ["::ffff:8.8.8.8", "an IPv4 address in IPv6 form"],
  ["::ffff:0:127.0.0.1", "a reserved address"],
  ["64:ff9b::7f00:1", "an IPv4 address behind NAT64"],
  ["64:ff9b:1::a00:1", "an IPv4 address behind NAT64"],
  ["100::1", "a reserved address"],
  ["2001::1", "an IPv4 address in a Teredo tunnel"],
  ["2001:10::1", "an address reserved for protocols"],
  ["2001:db8::1", "a documentation address"],
  ["2002:7f00:1::", "an IPv4 address in a 6to4 tunnel"],
  ["3fff::1", "a documentation address"],
  ["4000::1", "a reserved address"],
  ["5f00::1", "a reserved address"],
  ["fc00::1", "a private address"],
  ["fd00:ec2::254", "a private address"],
  ["fe80::1", "a link-local address"],
  ["fe80::1%eth0", "an address bound to one network interface"],
  ["fec0::1", "a private address"],
  ["ff02::1", "a multicast address"],
  ["", "no address"],
  ["127.1", "no address"],
  ["0x7f000001", "no address"],
  ["localhost", "no address"],
];

describe("an address", () => {
  test.each(PUBLIC)("%s is public", (address) => {
    expect(nameSpecialAddress(address)).toBeUndefined();
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each(SPECIAL)("%j is %s", (address, what) => {
    expect(nameSpecialAddress(address)).toBe(what);
    expect(isPublicAddress(address)).toBe(false);
  });

  test("of IPv4 is never public in any of its IPv6 forms", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`::ffff:${address}`)).toBe(false);
        expect(isPublicAddress(`::${address}`)).toBe(false);
        expect(isPublicAddress(`64:ff9b::${address}`)).toBe(false);
      }),
    );
  });
});
