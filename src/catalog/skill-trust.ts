/**
 * The facts that trust in a skill is decided on, gathered in one place: for a list, where the stamps stored with a grant
 * answer, and for a use, where everything is hashed anew.
 */
import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Skill, TrustDecision } from "../skill/skill.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import { checkSkillGrant, type GrantCheck } from "../trust/check-skill-grant.ts";
import {
  decideTrust,
  decideUserValues,
  type Embedding,
  type TrustInput,
  type TrustRoot,
} from "../trust/decide-trust.ts";
import { findSkillGrants, type Grants } from "../trust/grants.ts";
import type { SkillContent } from "../trust/list-content.ts";
import { resolveTrustedPaths } from "../trust/trusted-paths.ts";

export interface TrustInputs {
  readonly config: Config;
  readonly grants: Grants;
  readonly embedding: Embedding;
}

/** What is asked about. */
export interface TrustSubject extends SkillContent {
  readonly name: string;
  readonly root: SkillRoot;
  /** Of the skill file. */
  readonly realFile: string;
}

export interface TrustFacts {
  of(subject: TrustSubject, use: { readonly rehash: boolean }): TrustInput;
  readonly diagnostics: readonly Diagnostic[];
}

export function gatherTrustFacts(
  roots: readonly SkillRoot[],
  { config, grants, embedding }: TrustInputs,
): TrustFacts {
  const trusted = resolveTrustedPaths(config.skills.trustedPaths);
  const trustRoots = new Map(roots.map((root) => [root, trustRoot(root)]));
  const knownRoots = [...trustRoots.values()];
  return {
    of(subject, use) {
      const { name, root, form, realFile } = subject;
      const skillGrant = checkGrant(subject, grants, use);
      return {
        name,
        scope: root.scope,
        root: trustRoots.get(root) ?? trustRoot(root),
        realPath: form === "directory" ? dirname(realFile) : realFile,
        knownRoots,
        embedding,
        folderGrants: grants.folders,
        trustedPaths: trusted.paths,
        ...(skillGrant && { skillGrant }),
      };
    },
    diagnostics: trusted.diagnostics,
  };
}

/** What a skill may be given now. */
export interface SkillTrust {
  readonly trust: TrustDecision;
  /** Whether values of the user's config may reach it: a project's skill needs a grant for them. */
  readonly userValues: TrustDecision;
}

export type TrustOnUse = (skill: Skill) => SkillTrust;

/** For every use of a skill of a catalog: its files are hashed anew where a grant is for its content. */
export function trustOnUse(roots: readonly SkillRoot[], inputs: TrustInputs): TrustOnUse {
  let facts: TrustFacts | undefined;
  return (skill) => {
    // Given as an object: there is nothing on disk that could have changed.
    if (skill.location === "") return { trust: skill.trust, userValues: skill.trust };
    const root = roots.find(({ path, scope }) => path === skill.root && scope === skill.scope);
    if (root === undefined) return { trust: UNKNOWN_ROOT, userValues: UNKNOWN_ROOT };
    facts ??= gatherTrustFacts(roots, inputs);
    const { name, form, location, directory } = skill;
    const subject = { name, form, location, directory, root, realFile: realPathOr(location) };
    const input = facts.of(subject, { rehash: true });
    return { trust: decideTrust(input), userValues: decideUserValues(input) };
  };
}

const UNKNOWN_ROOT: TrustDecision = {
  level: "untrusted",
  reason: "The folder it was found in is not searched any more; load the catalog again.",
};

function trustRoot({ kind, path, grantFolder }: SkillRoot): TrustRoot {
  const realPath = realPathOr(path);
  return { kind, realPath, grantFolder: realPathOr(grantFolder), isLink: realPath !== path };
}

function checkGrant(
  subject: TrustSubject,
  grants: Grants,
  use: { readonly rehash: boolean },
): GrantCheck | undefined {
  if (grants.skills.length === 0) return undefined;
  const checks = findSkillGrants(grants.skills, subject.name, subject.location).map((grant) =>
    checkSkillGrant(grant, subject, use),
  );
  return checks.find(({ valid }) => valid) ?? checks[0];
}
