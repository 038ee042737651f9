/**
 * Addresses as locks record them, and for whoever fetches them again. A project's lock is committed: what lies in the
 * project is written from its root, so that it holds in every checkout. And it comes from anyone who can commit, so that
 * it must not make requests to servers of this machine; for their own lock, the user typed the address once.
 */
import { isAbsolute, relative, sep } from "node:path";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { LockOwner } from "../lock/lock-entry.ts";
import { isLoopbackHost } from "./addresses/loopback-host.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";
import type { InstallParts } from "./install-request.ts";
import { type AddressOptions, parseSourceAddress, type SourceAddress } from "./source-address.ts";

export type LockedAddress = { readonly ok: true; readonly address: SourceAddress } | FaultOutcome;

type LockParts = Pick<InstallParts, "places" | "projectRoot">;

/** `place` is an address or a path; what is not in the project stays as it is. */
export function writeLockedPlace(place: string, owner: LockOwner, { projectRoot }: LockParts): string {
  const roots = owner === "project" && isAbsolute(place) ? [projectRoot, realPathOr(projectRoot)] : [];
  const root = roots.find((folder) => isInside(place, folder));
  return root === undefined ? place : `./${relative(root, place).split(sep).join("/")}`;
}

/** How what a lock records is to be read: from the project's root, which means nothing to an absolute address. */
export function readsFromProject({ places, projectRoot }: LockParts): AddressOptions {
  return { cwd: projectRoot, home: places.home };
}

/** `owners` are those of all locks that record it. */
export function parseLockedAddress(
  source: string,
  owners: readonly LockOwner[],
  parts: LockParts,
): LockedAddress {
  const parsed = parseSourceAddress(source, readsFromProject(parts));
  if (!parsed.ok) return faulty("source.invalid", parsed.message, parsed.hint);
  const { address } = parsed;
  const host = "url" in address ? (URL.parse(address.url)?.hostname ?? "") : "";
  if (owners.includes("user") || !isLoopbackHost(host)) return { ok: true, address };
  return faulty(
    "source.refused",
    `The project's lock names \`${address.canonical}\`, a server on this machine, which is asked only if you name it.`,
    `If you know it, type \`metier install ${address.canonical} --project\`; otherwise look at who changed the lock.`,
  );
}
