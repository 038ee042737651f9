/**
 * Does a skill grant still hold? For a use, everything is hashed anew. For a list, the stamps stored with the grant
 * answer; only a file whose stamp differs (touched, restored, on a renumbered device) is hashed to know.
 */
import { lstatSync } from "node:fs";
import { compareText, type Diagnostic } from "../foundation/diagnostic.ts";
import {
  compareFile,
  compareIdentity,
  type FileChange,
  type IdentityOutcome,
  identifyContent,
} from "./content-identity.ts";
import type { SkillGrant } from "./grants.ts";
import { identifyFile, type StampedFile, stampOf } from "./identify-file.ts";
import { unreadableFault } from "./identity-fault.ts";
import { type ContentFile, IDENTITY_LIMITS, listContent, type SkillContent } from "./list-content.ts";

export type GrantCheck =
  | { readonly valid: true }
  /** `diagnostic` says why the content cannot be compared at all. */
  | { readonly valid: false; readonly changes: readonly FileChange[]; readonly diagnostic?: Diagnostic };

/** `rehash: true` for every use; `false` only to list. */
export function checkSkillGrant(
  grant: SkillGrant,
  content: SkillContent,
  { rehash }: { readonly rehash: boolean },
): GrantCheck {
  return rehash ? compareWithGrant(grant, identifyContent(content)) : checkStamps(grant, content);
}

/** For content that was hashed just now. */
export function compareWithGrant(grant: SkillGrant, outcome: IdentityOutcome): GrantCheck {
  if (!outcome.ok) return { valid: false, changes: [], diagnostic: outcome.diagnostic };
  const { digest, files } = outcome.identity;
  if (digest === grant.digest) return { valid: true };
  return { valid: false, changes: compareIdentity(grant.files, files) };
}

function checkStamps(grant: SkillGrant, content: SkillContent): GrantCheck {
  const listing = listContent(content);
  if (!listing.ok) return { valid: false, changes: [], diagnostic: listing.diagnostic };
  const unseen = new Map(grant.files.map((file) => [file.path, file]));
  const changes: FileChange[] = [];
  for (const entry of listing.files) {
    const outcome = compareEntry(unseen.get(entry.path), entry);
    if (typeof outcome === "object") return { valid: false, changes: [], diagnostic: outcome };
    if (outcome) changes.push({ path: entry.path, change: outcome });
    unseen.delete(entry.path);
  }
  for (const path of unseen.keys()) changes.push({ path, change: "removed" });
  if (changes.length === 0) return { valid: true };
  return { valid: false, changes: changes.sort((a, b) => compareText(a.path, b.path)) };
}

function compareEntry(
  before: StampedFile | undefined,
  entry: ContentFile,
): FileChange["change"] | Diagnostic | undefined {
  if (!before) return "added";
  if (before.kind !== entry.kind) return "changed";
  try {
    const now = lstatSync(entry.file, { bigint: true });
    if (stampOf(now) === before.stamp) return undefined;
    if (Number(now.size) !== before.size) return "changed";
  } catch (error) {
    return unreadableFault(entry.file, error).diagnostic;
  }
  const outcome = identifyFile(entry, IDENTITY_LIMITS.bytes);
  return outcome.ok ? compareFile(before, outcome.file) : outcome.diagnostic;
}
