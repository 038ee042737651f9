/** Gives every loaded skill its trust, decided on real paths, grants and configuration. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { decideTrust } from "../trust/decide-trust.ts";
import type { PlacedSkill } from "./placed-skill.ts";
import type { RootContent } from "./read-root.ts";
import { gatherTrustFacts, type TrustInputs } from "./skill-trust.ts";

export interface PlacedSkills {
  readonly placed: readonly PlacedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export function placeSkills(contents: readonly RootContent[], inputs: TrustInputs): PlacedSkills {
  const facts = gatherTrustFacts(
    contents.map(({ root }) => root),
    inputs,
  );
  const placed = contents.flatMap(({ root, skills }) =>
    skills.map((skill): PlacedSkill => {
      const { candidate, realFile, manifest, body, diagnostics } = skill;
      const { form, file: location, directory } = candidate;
      const subject = { name: manifest.name, form, location, directory, root, realFile };
      // The stamps stored with a grant answer for a list; every use hashes again.
      const trust = decideTrust(facts.of(subject, { rehash: false }));
      return { candidate, realFile, manifest, body, diagnostics, root, trust };
    }),
  );
  return { placed, diagnostics: facts.diagnostics };
}
