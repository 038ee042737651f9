/** Which skill of which source an entry is, whatever its version: what belongs to one source is no other's. */
import type { LockEntry } from "./lock-entry.ts";

export function originOf({ kind, source, path }: Pick<LockEntry, "kind" | "source" | "path">): string {
  // Behind the name of a package stands its version, behind `#` the reference of a repository.
  const whole = kind === "npm" ? /^npm:(?:@[^/]+\/)?[^/@]+/.exec(source)?.[0] : source.split("#", 1)[0];
  return `${whole ?? source}#${path}`;
}
