/** By which names a server that listens at an address is called, and whether only this machine reaches it. */
import { BlockList, isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";

export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** A name other than `localhost` may lead anywhere. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === "localhost";
  return LOOPBACK.check(host, family === 4 ? "ipv4" : "ipv6");
}

/** As `Host` spells them. */
export function namesOf(host: string): readonly string[] {
  const own = EVERYWHERE.has(host) ? machineNames() : [urlHost(host)];
  return [...new Set([...LOOPBACK_NAMES, ...own])];
}

const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

function machineNames(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return [hostname().toLowerCase(), ...addresses.map(({ address }) => urlHost(address))];
}

export function urlHost(host: string): string {
  return isIP(host) === 6 ? `[${host.replace(/%.*$/, "")}]` : host.toLowerCase();
}
