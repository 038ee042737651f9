/** What a machine knows about a skill besides its files: who trusts it, and its available versions. */
import { isInside, type Places, realPathOr } from "@metier/base/places";
import type { LockedSkill } from "@metier/skills";
import type { CapabilitiesConfig } from "@metier/skills/config";
import { readLock } from "@metier/skills/formats";
import { findEntry, type Grants, type LockEntry, storeFolder, userLockFile } from "@metier/skills/trust";
import type { ApiSkill, ApiSkillVersion } from "../api.ts";
import type { ServedVersion } from "../shelf/skill-shelf.ts";
import type { KnownSkill } from "./know-skills.ts";

/** A version, and where it lies. */
interface PlacedVersion extends ApiSkillVersion {
  readonly folder: string;
}

/** Newest first. */
export function describeGrants(
  { name, directory }: KnownSkill,
  { folders, skills }: Grants,
  digest: string | undefined,
): ApiSkill["grants"] {
  const real = realPathOr(directory);
  const ofSkill = skills
    .filter((grant) => grant.name === name)
    .map((grant) => ({
      what: grant.digest === digest ? "exactly this content" : `different content: ${grant.digest}`,
      at: grant.decidedAt,
    }));
  const ofFolders = folders
    .filter(({ path }) => isInside(real, path))
    .map(({ path, decision, decidedAt }) => {
      return { what: `${decision === "trusted" ? "" : "refused: "}everything in ${path}`, at: decidedAt };
    });
  return [...ofSkill, ...ofFolders].sort((a, b) => b.at.localeCompare(a.at));
}

/** Of a skill of the server: what the lock has, or what lies on the disk. `digest`: of what lies there now. */
export function listOwnVersions(
  { skill, directory }: KnownSkill,
  digest: string | undefined,
  places: Places,
): readonly PlacedVersion[] {
  const entry = skill?.locked && findLockEntry(skill.name, skill.locked, places);
  const isAsInstalled = entry !== undefined && entry.digest === digest;
  const onDisk = { label: "on disk", isCurrent: true, folder: directory };
  const current = isAsInstalled || digest === undefined ? [] : [{ digest, ...onDisk }];
  return [...current, ...(entry === undefined ? [] : listInstalled(entry, isAsInstalled, directory, places))];
}

function findLockEntry(name: string, { lock }: LockedSkill, places: Places): LockEntry | undefined {
  const owner = lock === userLockFile(places).path ? "user" : "project";
  const read = readLock({ path: lock, owner });
  return read.ok ? findEntry(read.value, name) : undefined;
}

function listInstalled(
  entry: LockEntry,
  isCurrent: boolean,
  directory: string,
  places: Places,
): readonly PlacedVersion[] {
  const { digest, name, previous, installedAt, updatedAt = installedAt } = entry;
  const installed: PlacedVersion = {
    digest,
    label: "installed",
    isCurrent,
    ...(updatedAt !== undefined && { at: updatedAt }),
    folder: isCurrent ? directory : storeFolder(places, entry),
  };
  if (previous === undefined) return [installed];
  const before: PlacedVersion = {
    digest: previous.digest,
    label: "previous",
    isCurrent: false,
    ...(previous.updatedAt !== undefined && { at: previous.updatedAt }),
    folder: storeFolder(places, { name, digest: previous.digest }),
  };
  return [installed, before];
}

export function showUpload(
  { digest, uploadedAt }: ServedVersion,
  current: string | undefined,
): ApiSkillVersion {
  const at = new Date(uploadedAt).toISOString();
  return { digest, label: "uploaded", isCurrent: digest === current, at };
}

/** Each capability with the provider that the config wires for its namespace. */
export function nameProviders(
  capabilities: readonly string[],
  { providers }: CapabilitiesConfig,
): ApiSkill["capabilities"] {
  return capabilities.map((id) => {
    const namespace = id.split(".")[0] ?? id;
    const found = Object.entries(providers).find(
      ([name, { enabled, namespace: own = name }]) => enabled !== false && own === namespace,
    );
    return { id, ...(found && { provider: found[0] }) };
  });
}
