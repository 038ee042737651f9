/** The skills of a tenant as folders on this machine. What cannot be had as it should be is told by runs of it, and left out. */
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { ServedSkill, SkillAtHand, SkillShelf } from "../shelf/skill-shelf.ts";

/** All that is not of the home: for another tenant, all that it has. */
export async function listUploads(shelf: SkillShelf, tenant: string): Promise<readonly ServedSkill[]> {
  const shelved = await shelf.list(tenant);
  return tenant === DEFAULT_TENANT ? shelved.filter(({ source }) => source === "upload") : shelved;
}

/** Differs when one of them, or its trust, is another one. */
export function stampUploads(uploaded: readonly ServedSkill[]): string {
  return JSON.stringify(uploaded.map(({ name, current, trust }) => [name, current, trust]));
}

/** The version of each that new runs get. */
export function openUploaded(
  shelf: SkillShelf,
  tenant: string,
  uploaded: readonly ServedSkill[],
): Promise<readonly SkillAtHand[]> {
  return tenant === DEFAULT_TENANT ? openEach(shelf, tenant, uploaded) : openAll(shelf, tenant);
}

async function openEach(
  shelf: SkillShelf,
  tenant: string,
  uploaded: readonly ServedSkill[],
): Promise<readonly SkillAtHand[]> {
  const opened = await Promise.all(
    uploaded.map(({ name, current = "" }) => shelf.open(tenant, name, current)),
  );
  return opened.flatMap((result) => (result.ok && result.value ? [result.value] : []));
}

/** Whatever the tenant has, as a turn of a conversation would have it. */
async function openAll(shelf: SkillShelf, tenant: string): Promise<readonly SkillAtHand[]> {
  const pin = await shelf.pin(tenant, undefined);
  const opened = pin.ok && pin.value !== undefined ? await shelf.openPinned(tenant, pin.value) : undefined;
  return opened?.ok ? opened.value : [];
}
