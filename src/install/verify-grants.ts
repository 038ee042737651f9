/** Whether skills that were trusted one by one are still what was trusted, wherever they stand. */
import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import { checkSkillGrant } from "../trust/check-skill-grant.ts";
import type { FileChange } from "../trust/content-identity.ts";
import type { SkillGrant } from "../trust/grants.ts";

export interface VerifiedGrant {
  readonly name: string;
  /** The skill file that was trusted. */
  readonly location: string;
  readonly digest: string;
  /** `missing`: nothing stands there any more, as after an update or a removal. */
  readonly state: "holds" | "changed" | "missing";
  readonly changes: readonly FileChange[];
  readonly note?: string;
}

/** `names`: only those. */
export function verifyGrants(
  grants: readonly SkillGrant[],
  names: ReadonlySet<string> | undefined,
): readonly VerifiedGrant[] {
  return grants.filter(({ name }) => names === undefined || names.has(name)).map(verifyGrant);
}

function verifyGrant(grant: SkillGrant): VerifiedGrant {
  const { name, location, digest } = grant;
  const known = { name, location, digest, changes: [] };
  if (lstatSync(location, { throwIfNoEntry: false }) === undefined) return { ...known, state: "missing" };
  const directory = dirname(location);
  const form = isFlat(grant) ? "markdown" : "directory";
  const check = checkSkillGrant(grant, { form, location, directory }, { rehash: true });
  if (check.valid) return { ...known, state: "holds" };
  const note = check.diagnostic?.message;
  return { ...known, state: "changed", changes: check.changes, ...(note !== undefined && { note }) };
}

/** A skill that is one file, among others that are none of its own. */
function isFlat({ location, files }: SkillGrant): boolean {
  return (
    files.length === 1 && files[0]?.path === basename(location) && !/^skill\.md$/i.test(basename(location))
  );
}
