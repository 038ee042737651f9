/** One machine's skills with their content identities: computed on request, and cached briefly. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { dropOldest } from "@metier/base/turns";
import { identifyContent, type SkillContent } from "@metier/skills/trust";
import type { ServedSkill } from "../shelf/skill-shelf.ts";

/** One of the machine's own skills. */
export interface HomeSkill extends Pick<ServedSkill, "name" | "description" | "trust"> {
  /** Whether users can request it by name. */
  readonly isForUsers: boolean;
  /** Absent: the skill has no file, so no other machine can have it. */
  readonly content?: SkillContent | undefined;
}

export interface IdentifiedSkill extends HomeSkill {
  readonly content: SkillContent;
  readonly digest: string;
  /** The name of its folder or file. */
  readonly entry: string;
}

/**
 * A change is noticed a moment later. That's soon enough, because content is checked against its identity before use.
 */
const BELIEVED_MS = 5_000;
const MOST_KNOWN = 2_000;

export interface HomeSkills {
  list(): Promise<readonly HomeSkill[]>;
  /** `undefined`: it has no file, or can't be read completely. */
  identify(skill: HomeSkill): IdentifiedSkill | undefined;
}

export function openHomeSkills(list: HomeSkills["list"], now: () => number): HomeSkills {
  const known = new Map<string, { readonly at: number; readonly digest: string | undefined }>();
  return {
    list,
    identify(skill) {
      const { content } = skill;
      if (content === undefined) return undefined;
      const place = JSON.stringify([content.form, content.location, content.directory]);
      let found = known.get(place);
      if (found === undefined || now() - found.at > BELIEVED_MS) {
        const identity = identifyContent(content);
        found = { at: now(), digest: identity.ok ? identity.value.digest : undefined };
        known.delete(place);
        known.set(place, found);
        dropOldest(known, MOST_KNOWN);
      }
      const { digest } = found;
      return digest === undefined ? undefined : { ...skill, content, digest, entry: nameEntry(content) };
    },
  };
}

function nameEntry({ form, location, directory }: SkillContent): string {
  const name = basename(form === "directory" ? directory : location);
  // A name that a file system may refuse is replaced by its digest.
  return /^[\w][\w. -]{0,200}$/.test(name) ? name : createHash("sha256").update(name).digest("hex");
}
