/**
 * Skills that the embedding program gives as objects: the same manifest and rules as a file, without the file.
 * They have scope `integration`, and the program vouches for them.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Json } from "../skill/manifest.ts";
import type { ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { Profile } from "../validate/profiles.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import type { PlacedSkill } from "./placed-skill.ts";

/** The frontmatter fields of a skill file, in any accepted spelling, and its body as `instructions`. */
export interface GivenSkill {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly [field: string]: Json | undefined;
}

export interface PlacedGiven {
  readonly placed: readonly PlacedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export function placeGiven(
  skills: readonly GivenSkill[],
  { profile, integrationRank }: { readonly profile: Profile; readonly integrationRank: number },
): PlacedGiven {
  const root: SkillRoot = {
    scope: "integration",
    path: "",
    kind: "own",
    rank: integrationRank,
    explicit: true,
    grantFolder: "",
  };
  const placed: PlacedSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const skill of skills) {
    const { manifest, body, diagnostics: found } = validateSkill(parsedGiven(skill), profile);
    diagnostics.push(...found);
    if (manifest === undefined) continue;
    const trust = { level: "trusted", reason: "The embedding program brings it." } as const;
    placed.push({
      candidate: candidateOf(skill),
      manifest,
      root,
      realFile: "",
      trust,
      body,
      diagnostics: found,
    });
  }
  return { placed, diagnostics };
}

function candidateOf({ name }: GivenSkill): SkillCandidate {
  return { form: "directory", file: "", directory: "", defaultName: name };
}

function parsedGiven(skill: GivenSkill): ParsedSkill {
  const { instructions, ...frontmatter } = skill;
  return {
    candidate: candidateOf(skill),
    frontmatter: Object.fromEntries(
      Object.entries(frontmatter).filter((entry): entry is [string, Json] => entry[1] !== undefined),
    ),
    body: instructions.trim(),
    bodyLine: 1,
    position: () => undefined,
    written: () => undefined,
    diagnostics: [],
  };
}
