/** Whether something is this machine itself: nothing that is sent there leaves it. The one test of that. */
import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** An IP address without brackets. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** A host as URLs have it: lower case, IPv4 in four parts, IPv6 in brackets. A name other than `localhost` may lead anywhere. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host.replace(/^\[(.*)\]$/, "$1"));
}
