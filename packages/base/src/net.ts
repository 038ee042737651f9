/** Whether a host is this machine itself, so that nothing sent there leaves it. The one test for that. */
import type { BlockList } from "node:net";

/** Made on first use: `node:net` takes milliseconds to load, and most commands don't need it. */
let loopback: BlockList | undefined;

/** An IP address without brackets. */
export function isLoopbackAddress(address: string): boolean {
  const { BlockList, isIP } = process.getBuiltinModule("node:net");
  if (loopback === undefined) {
    loopback = new BlockList();
    loopback.addSubnet("127.0.0.0", 8, "ipv4");
    loopback.addAddress("::1", "ipv6");
  }
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6");
}

/**
 * A host as written in URLs: lower case, IPv4 in four parts, IPv6 in brackets. A name other than `localhost` may lead
 * anywhere.
 */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host.replace(/^\[(.*)\]$/, "$1"));
}
