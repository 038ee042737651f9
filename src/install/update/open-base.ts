/** The version that is installed, as it was fetched: from the store, or fetched again where the store no longer has it. */
import type { LockEntry } from "../../lock/lock-entry.ts";
import { storeFolder } from "../../lock/lock-places.ts";
import { findDifference } from "../../lock/store.ts";
import { findSourceSkills, type SourceSkill } from "../find-source-skills.ts";
import { readsFromProject } from "../locked-address.ts";
import { openSource } from "../open-source.ts";
import { isValid, type ValidSkill } from "../plan-skill.ts";
import { pinAddress } from "../same-origin.ts";
import { parseSourceAddress } from "../source-address.ts";
import type { UpstreamContext } from "./upstream.ts";

/** `undefined` when it can no longer be had, byte for byte. */
export async function openBase(entry: LockEntry, context: UpstreamContext): Promise<ValidSkill | undefined> {
  const { parts } = context;
  const folder = storeFolder(parts.places, entry);
  const isStored = findDifference(folder, entry.digest) === undefined;
  const skills = isStored
    ? (await findSourceSkills({ folder, paths: [""] }, parts.profile, entry.name)).skills
    : await fetchAgain(entry, context);
  const base = skills.find(({ digest }) => digest === entry.digest);
  return base && isValid(base) ? base : undefined;
}

async function fetchAgain(entry: LockEntry, context: UpstreamContext): Promise<readonly SourceSkill[]> {
  const { parts, quarantine, signal } = context;
  const parsed = parseSourceAddress(entry.source, readsFromProject(parts));
  if (!parsed.ok) return [];
  const address = pinAddress(parsed.address, entry, entry.path);
  const opened = await openSource(address, {
    parts,
    quarantine,
    skills: [entry.name],
    ...(signal && { signal }),
  });
  return opened.ok ? opened.skills : [];
}
