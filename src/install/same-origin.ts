/** Whether an installed skill and one of a source are the same skill of the same source, whatever their versions. */
import { join } from "node:path";
import { realPathOr } from "../host/project-folders.ts";
import type { LockEntry } from "../lock/lock-entry.ts";
import { moveGit } from "./addresses/git-address.ts";
import { type AddressOptions, parseSourceAddress, type SourceAddress } from "./source-address.ts";

export function isSameOrigin(
  entry: LockEntry,
  address: SourceAddress,
  path: string,
  options: AddressOptions,
): boolean {
  const parsed = parseSourceAddress(entry.source, options);
  return parsed.ok && originOf(parsed.address, entry.path) === originOf(address, path);
}

function originOf(address: SourceAddress, path: string): string {
  switch (address.kind) {
    case "folder":
      return realPathOr(join(address.path, path));
    case "npm":
      return `npm:${address.name}#${path}`;
    default:
      return `${address.url}#${path}`;
  }
}

/** The address of exactly the version that the lock records, as far as such a source has addresses for versions. */
export function pinAddress(
  address: SourceAddress,
  { resolved }: Pick<LockEntry, "resolved">,
  path: string,
): SourceAddress {
  if (address.kind === "git") return moveGit(address, { ref: resolved, path });
  if (address.kind === "npm") return { ...address, range: resolved.split(" ")[0] ?? address.range };
  return address;
}
