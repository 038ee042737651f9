/** What the lock will say of a skill. */
import { userInfo } from "node:os";
import { join, relative, sep } from "node:path";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { LockEntry } from "../lock/lock-entry.ts";
import type { LockFile } from "../lock/lock-places.ts";
import type { FetchedSource } from "./fetch-source.ts";
import type { SourceSkill } from "./find-source-skills.ts";
import type { InstallParts, InstallRequest } from "./install-request.ts";
import { readsFromProject, writeLockedPlace } from "./locked-address.ts";
import { isSameOrigin } from "./same-origin.ts";
import type { SourceAddress } from "./source-address.ts";

export interface EntryContext {
  readonly request: InstallRequest;
  readonly parts: InstallParts;
  readonly lockFile: LockFile;
  readonly address: SourceAddress;
  readonly source: FetchedSource;
}

/** `undefined` for a link that a project's lock may not have. */
export function makeEntry(
  skill: SourceSkill,
  called: string,
  replaces: LockEntry | undefined,
  context: EntryContext,
): LockEntry | undefined {
  const { request, source, address, parts, lockFile } = context;
  const resolved = request.link
    ? linkTarget(join(source.resolved, skill.path), context)
    : writeLockedPlace(source.resolved, lockFile.owner, parts);
  if (resolved === undefined) return undefined;
  const now = new Date().toISOString();
  const earlier =
    replaces && isSameOrigin(replaces, address, skill.path, readsFromProject(parts)) ? replaces : undefined;
  return {
    name: skill.name,
    ...(called !== skill.name && { alias: called }),
    source: writeLockedPlace(source.canonical, lockFile.owner, parts),
    kind: address.kind,
    ...(source.ref !== undefined && { ref: source.ref }),
    resolved,
    path: skill.path,
    digest: skill.digest,
    ...(request.link && { linked: true }),
    ...(request.copy && request.project && { copied: true }),
    installedBy: userName(),
    installedAt: earlier?.installedAt ?? now,
    ...(earlier && { updatedAt: now }),
    ...(earlier && previousOf(earlier, skill.digest)),
  };
}

/** What a rollback goes back to: an earlier version of the same skill, which the store has. */
function previousOf(earlier: LockEntry, digestNow: string): Pick<LockEntry, "previous"> {
  const { digest, resolved, ref, updatedAt, previous, linked } = earlier;
  if (digest === digestNow) return previous ? { previous } : {};
  if (linked) return {};
  return {
    previous: { digest, resolved, ...(ref !== undefined && { ref }), ...(updatedAt && { updatedAt }) },
  };
}

/** A project's lock names folders of the project only, relative to it. */
function linkTarget(folder: string, { parts, lockFile }: EntryContext): string | undefined {
  const real = realPathOr(folder);
  if (lockFile.owner === "user") return real;
  const root = realPathOr(parts.projectRoot);
  return real !== root && isInside(real, root) ? relative(root, real).split(sep).join("/") : undefined;
}

function userName(): string {
  try {
    return userInfo().username || "unknown";
  } catch {
    return "unknown"; // In a container without a list of users.
  }
}
