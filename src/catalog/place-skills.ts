/** Gives every loaded skill its trust, decided on real paths, grants and configuration. */
import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { TrustDecision } from "../skill/skill.ts";
import { checkSkillGrant, type GrantCheck } from "../trust/check-skill-grant.ts";
import { decideTrust, type Embedding, type TrustRoot } from "../trust/decide-trust.ts";
import { findSkillGrants, type Grants } from "../trust/grants.ts";
import { resolveTrustedPaths } from "../trust/trusted-paths.ts";
import type { PlacedSkill } from "./placed-skill.ts";
import type { LoadedSkill, RootContent } from "./read-root.ts";

export interface TrustInputs {
  readonly config: Config;
  readonly grants: Grants;
  readonly embedding: Embedding;
}

export interface PlacedSkills {
  readonly placed: readonly PlacedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export function placeSkills(
  contents: readonly RootContent[],
  { config, grants, embedding }: TrustInputs,
): PlacedSkills {
  const trusted = resolveTrustedPaths(config.skills.trustedPaths);
  const roots = new Map(contents.map(({ root }) => [root, trustRoot(root)]));
  const knownRoots = [...roots.values()];
  const decide = (
    root: TrustRoot,
    scope: PlacedSkill["root"]["scope"],
    skill: LoadedSkill,
  ): TrustDecision => {
    const skillGrant = currentGrant(skill, grants);
    return decideTrust({
      name: skill.manifest.name,
      scope,
      root,
      realPath: skill.candidate.form === "directory" ? dirname(skill.realFile) : skill.realFile,
      knownRoots,
      embedding,
      folderGrants: grants.folders,
      trustedPaths: trusted.paths,
      ...(skillGrant && { skillGrant }),
    });
  };
  const placed = contents.flatMap(({ root, skills }) => {
    const trust = roots.get(root) ?? trustRoot(root);
    return skills.map((skill): PlacedSkill => {
      const { candidate, realFile, manifest, body, diagnostics } = skill;
      return {
        candidate,
        realFile,
        manifest,
        body,
        diagnostics,
        root,
        trust: decide(trust, root.scope, skill),
      };
    });
  });
  return { placed, diagnostics: trusted.diagnostics };
}

function trustRoot({ kind, path, grantFolder }: RootContent["root"]): TrustRoot {
  const realPath = realPathOr(path);
  return { kind, realPath, grantFolder: realPathOr(grantFolder), isLink: realPath !== path };
}

/** For a list the stamps stored with the grant answer; every use hashes again. */
function currentGrant({ candidate, manifest }: LoadedSkill, grants: Grants): GrantCheck | undefined {
  if (grants.skills.length === 0) return undefined;
  const content = { form: candidate.form, location: candidate.file, directory: candidate.directory };
  const checks = findSkillGrants(grants.skills, manifest.name, candidate.file).map((grant) =>
    checkSkillGrant(grant, content, { rehash: false }),
  );
  return checks.find(({ valid }) => valid) ?? checks[0];
}
