/** The skills of one machine, with their content identities: computed when somebody asks, and believed for a moment. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { dropOldest } from "@metier/base/turns";
import { identifyContent, type SkillContent } from "@metier/skills/trust";
import type { ServedSkill } from "../shelf/skill-shelf.ts";

/** A skill that the machine itself has. */
export interface HomeSkill extends Pick<ServedSkill, "name" | "description" | "trust"> {
  /** Whether it can be asked for by name. */
  readonly isForUsers: boolean;
  /** Absent: it lies in no file, so that nobody else can have it. */
  readonly content?: SkillContent | undefined;
}

export interface IdentifiedSkill extends HomeSkill {
  readonly content: SkillContent;
  readonly digest: string;
  /** What its folder or file is called. */
  readonly entry: string;
}

/** A content that changes is another one a moment later, which is soon enough: what is used is held to its identity. */
const BELIEVED_MS = 5_000;
const MOST_KNOWN = 2_000;

export interface HomeSkills {
  list(): Promise<readonly HomeSkill[]>;
  /** `undefined`: it is in no file, or cannot be read as a whole. */
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
  // What no file system takes is told apart by what it stands for.
  return /^[\w][\w. -]{0,200}$/.test(name) ? name : createHash("sha256").update(name).digest("hex");
}
