/** Gives every loaded skill its trust, decided on real paths, grants and configuration. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { PlacedSkill } from "./placed-skill.ts";
import type { RootContent } from "./read-root.ts";
import { type TrustInputs, trustInList } from "./skill-trust.ts";

export interface PlacedSkills {
  readonly placed: readonly PlacedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export function placeSkills(contents: readonly RootContent[], inputs: TrustInputs): PlacedSkills {
  const trustOf = trustInList(
    contents.map(({ root }) => root),
    inputs,
  );
  const placed = contents.flatMap(({ root, skills }) => {
    const decide = trustOf.inRoot(root);
    return skills.map((skill): PlacedSkill => {
      const { candidate, realFile, manifest, body, diagnostics } = skill;
      const { form, file: location, directory } = candidate;
      const trust = decide({ name: manifest.name, form, location, directory, root, realFile });
      return { candidate, realFile, manifest, body, diagnostics, root, trust };
    });
  });
  return { placed, diagnostics: trustOf.diagnostics };
}
