/**
 * The user's grants on disk, `<home>/.metier/grants.json`. Every change reads the file again under a lock and replaces
 * it as a whole. An unusable file grants nothing and is never overwritten, only moved.
 */

import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { MetierError } from "@metier/base/errors";
import { writeAtomic } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { forReader } from "@metier/base/text";
import { withLock } from "@metier/base/turns";
import { type ContentIdentity, OPEN_FLAGS } from "./content-identity.ts";
import { type FolderGrant, type Grants, parseGrants, renderGrants, type SkillGrant } from "./grants.ts";

type GrantPlaces = Pick<Places, "grantsFile">;

export interface StoredGrants extends Grants {
  /** What is wrong with the grants file. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A recorded grant, and any message about the file. */
export interface Recorded<Grant> {
  readonly grant: Grant;
  readonly diagnostics: readonly Diagnostic[];
}

type RevokeTarget = { readonly folder: string } | { readonly skill: string } | { readonly digest: string };

const MAX_BYTES = 64 * 1024 * 1024;
const NO_GRANTS: Grants = { folders: [], skills: [] };

export function readGrants({ grantsFile }: GrantPlaces): StoredGrants {
  const read = readFile(grantsFile);
  if (read.ok) return { ...read.value, diagnostics: [] };
  return { ...NO_GRANTS, diagnostics: [reportUnusable(grantsFile, read.refusal)] };
}

/** Records yes or no for a folder, replacing an earlier decision. */
export function grantFolder(
  places: GrantPlaces,
  decision: Omit<FolderGrant, "decidedAt">,
): Result<Recorded<FolderGrant>, Diagnostic> {
  const path = realFolder(decision.path);
  if (path === undefined) {
    const message = `\`${decision.path}\` is not a folder, so it cannot be trusted or denied.`;
    const hint = "Name an existing folder.";
    return refused({ code: "trust.folder-missing", severity: "error", path: decision.path, message, hint });
  }
  const grant: FolderGrant = { ...decision, path, decidedAt: new Date().toISOString() };
  const diagnostics = changeGrants(places, (grants) => ({
    ...grants,
    folders: [...grants.folders.filter((other) => other.path !== path), grant],
  }));
  return done({ grant, diagnostics });
}

/**
 * Records trust in a skill as `identity` saw it: pass the one shown to the user, so that exactly what was reviewed is
 * granted. Replaces an earlier grant for that name and location.
 */
export function grantSkill(
  places: GrantPlaces,
  skill: { readonly name: string; readonly location: string; readonly identity: ContentIdentity },
): Recorded<SkillGrant> {
  const { name, location, identity } = skill;
  const grant: SkillGrant = { name, location, ...identity, decidedAt: new Date().toISOString() };
  const diagnostics = changeGrants(places, (grants) => ({
    ...grants,
    skills: [...grants.skills.filter((other) => other.name !== name || other.location !== location), grant],
  }));
  return { grant, diagnostics };
}

/** Forgets decisions, including refusals; returns which. What is not granted is asked about again. */
export function revoke(
  places: GrantPlaces,
  target: RevokeTarget,
): { readonly revoked: Grants; readonly diagnostics: readonly Diagnostic[] } {
  let revoked = NO_GRANTS;
  const folder = "folder" in target ? (realFolder(target.folder) ?? resolve(target.folder)) : undefined;
  const goes = (grant: SkillGrant): boolean =>
    "skill" in target ? grant.name === target.skill : "digest" in target && grant.digest === target.digest;
  const diagnostics = changeGrants(places, (grants) => {
    revoked = {
      folders: grants.folders.filter((grant) => grant.path === folder),
      skills: grants.skills.filter(goes),
    };
    if (revoked.folders.length + revoked.skills.length === 0) return grants;
    return {
      folders: grants.folders.filter((grant) => grant.path !== folder),
      skills: grants.skills.filter((grant) => !goes(grant)),
    };
  });
  return { revoked, diagnostics };
}

/** The same for skills by location; returns the revoked grants. */
export function revokeLocations(
  places: GrantPlaces,
  goes: (location: string) => boolean,
): readonly SkillGrant[] {
  let revoked: readonly SkillGrant[] = [];
  changeGrants(places, (grants) => {
    revoked = grants.skills.filter(({ location }) => goes(location));
    if (revoked.length === 0) return grants;
    return { ...grants, skills: grants.skills.filter(({ location }) => !goes(location)) };
  });
  return revoked;
}

/** Returning the same grants means that there is nothing to write. */
function changeGrants(
  { grantsFile }: GrantPlaces,
  change: (grants: Grants) => Grants,
): readonly Diagnostic[] {
  return withLock(grantsFile, (isHeld) => {
    const read = readFile(grantsFile);
    const before = read.ok ? read.value : NO_GRANTS;
    const after = change(before);
    if (after === before) return read.ok ? [] : [reportUnusable(grantsFile, read.refusal)];
    if (!isHeld()) throw lockLost(grantsFile);
    const diagnostics = read.ok ? [] : [keepAside(grantsFile, read.refusal)];
    if (!writeAtomic(grantsFile, renderGrants(after), { onlyIf: isHeld })) throw lockLost(grantsFile);
    chmodSync(grantsFile, 0o600); // An older file may have been readable by others, and its mode was kept.
    return diagnostics;
  });
}

function lockLost(grantsFile: string): MetierError {
  const message = `Another process took the lock of \`${grantsFile}\`; nothing was granted or revoked.`;
  return new MetierError("internal.fault", message, { hint: "Run the command again." });
}

function reportUnusable(grantsFile: string, problem: string): Diagnostic {
  const message = `The grants file is ignored: ${problem}. Nothing counts as granted.`;
  const hint = forReader({
    command: "Fix or remove it; `metier trust` creates a new one and keeps this one under another name.",
    program: "Fix or remove it.",
  });
  return { code: "trust.grants-unusable", severity: "warning", path: grantsFile, message, hint };
}

function keepAside(grantsFile: string, problem: string): Diagnostic {
  const kept = `${grantsFile}.broken-${randomUUID()}`;
  renameSync(grantsFile, kept);
  const message = `The old grants file was not usable (${problem}) and was kept as \`${kept}\`.`;
  const hint = "Grant its entries again, then delete it.";
  return { code: "trust.grants-kept-aside", severity: "warning", path: kept, message, hint };
}

/** The grants, none for a missing file, or why the file is unusable. */
function readFile(grantsFile: string): Result<Grants, string> {
  let descriptor: number;
  try {
    descriptor = openSync(grantsFile, OPEN_FLAGS);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return done(NO_GRANTS);
    return refused(code === "ELOOP" ? "it is a link, but grants are read only from a regular file" : message);
  }
  try {
    const unsafety = findUnsafety(descriptor);
    return unsafety === undefined ? parseGrants(readFileSync(descriptor, "utf8")) : refused(unsafety);
  } catch (error) {
    return refused((error as Error).message);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether someone else could have written it: then it is not this user's decision. */
function findUnsafety(descriptor: number): string | undefined {
  const stats = fstatSync(descriptor);
  const user = process.getuid?.();
  if (!stats.isFile()) return "it is not a regular file";
  if (stats.size > MAX_BYTES) return `it is larger than ${MAX_BYTES} bytes`;
  if (user === undefined) return undefined;
  if (stats.uid !== user && stats.uid !== 0 && user !== 0) return `it belongs to user ${stats.uid}`;
  return (stats.mode & 0o022) === 0 ? undefined : "other users can write to it (run `chmod 600` on it)";
}

function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined; // Missing or unreachable: the caller reports it.
  }
}
