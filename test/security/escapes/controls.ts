/** Which attempts can be shown to succeed without a sandbox, here and by this user. */
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import type { Attempt } from "./attempt.ts";

export function canShow({ control, needs }: Attempt): boolean {
  if (needs === "ipv6" && !hasIpv6()) return false;
  return control === "anyone" || (control === "root" && isFullRoot());
}

/** Root of the whole machine: that of a container may lack the privileges that an attempt is after. */
function isFullRoot(): boolean {
  const map = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/);
  const effective = /^CapEff:\s*(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  const canAdminister = (BigInt(`0x${effective}`) >> 21n) & 1n;
  return process.getuid?.() === 0 && map.join(" ") === "0 0 4294967295" && canAdminister === 1n;
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"));
}
