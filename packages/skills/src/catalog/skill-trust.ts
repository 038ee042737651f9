/**
 * Collects the facts that decide trust in a skill: for a list, where a grant's stored stamps answer, and for a use,
 * where everything is hashed again.
 */

import { basename, dirname } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isInside, type RealPathOf, realPathOr } from "@metier/base/places";
import type { Result } from "@metier/base/result";
import { forReader } from "@metier/base/text";
import type { Config } from "../config/config.ts";
import type { RemoteOrigin, Skill, TrustDecision } from "../skill/skill.ts";
import { isSkillFileName } from "../sources/skill-files.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { type ContentIdentity, identifyContent, identifyFolder } from "../trust/content-identity.ts";
import {
  decideRemoteTrust,
  decideTrust,
  decideUserValues,
  type Embedding,
  type TrustInput,
  type TrustRoot,
} from "../trust/decide-trust.ts";
import {
  checkSkillGrant,
  compareWithGrant,
  findSkillGrants,
  type GrantCheck,
  type Grants,
  resolveTrustedPaths,
  type SkillGrant,
} from "../trust/grants.ts";
import type { SkillContent } from "../trust/list-content.ts";

export interface TrustInputs {
  readonly config: Config;
  readonly grants: Grants;
  readonly embedding: Embedding;
  readonly realPathOf?: RealPathOf | undefined;
}

/** The subject of the question. */
interface TrustSubject extends SkillContent {
  readonly name: string;
  readonly root: SkillRoot;
  /** Of the skill file. */
  readonly realFile: string;
}

interface TrustFacts {
  of(subject: TrustSubject, skillGrant: GrantCheck | undefined): TrustInput;
  /** As for a nameless skill without a grant that is the root itself. */
  ofRoot(root: SkillRoot): TrustInput;
  readonly diagnostics: readonly Diagnostic[];
}

function gatherTrustFacts(
  roots: readonly SkillRoot[],
  { config, grants, embedding, realPathOf = realPathOr }: TrustInputs,
): TrustFacts {
  const trusted = resolveTrustedPaths(config.skills.trustedPaths);
  const trustRoots = new Map(roots.map((root) => [root, trustRoot(root, realPathOf)]));
  const known = {
    knownRoots: [...trustRoots.values()],
    embedding,
    folderGrants: grants.folders,
    trustedPaths: trusted.paths,
  };
  const ofRoot = (root: SkillRoot): TrustInput => {
    const trust = trustRoots.get(root) ?? trustRoot(root, realPathOf);
    // Where a source's files were put says nothing about them.
    const paths = root.source ? { folderGrants: [], trustedPaths: [], source: root.source.source } : {};
    return { ...known, ...paths, name: "", scope: root.scope, root: trust, realPath: trust.realPath };
  };
  return {
    of({ name, root, form, realFile }, skillGrant) {
      const realPath = form === "directory" ? dirname(realFile) : realFile;
      return { ...ofRoot(root), name, realPath, ...(skillGrant && { skillGrant }) };
    },
    ofRoot,
    diagnostics: trusted.diagnostics,
  };
}

interface TrustInList {
  /** Answers for the skills of one root. */
  inRoot(root: SkillRoot): (subject: TrustSubject) => TrustDecision;
  readonly diagnostics: readonly Diagnostic[];
}

/** Only for listing: a grant's stored stamps answer, and skills share a decision if none can differ. */
export function trustInList(roots: readonly SkillRoot[], inputs: TrustInputs): TrustInList {
  const facts = gatherTrustFacts(roots, inputs);
  return {
    inRoot(root) {
      const rootInput = facts.ofRoot(root);
      const common = commonDecision(rootInput);
      return (subject) => {
        const skillGrant = findGrant(subject, inputs.grants, (grant) =>
          checkSkillGrant(grant, subject, { rehash: false }),
        );
        const isCommon = skillGrant === undefined && isBelow(subject.realFile, rootInput.root.realPath);
        return isCommon && common ? common : decideTrust(facts.of(subject, skillGrant));
      };
    },
    diagnostics: facts.diagnostics,
  };
}

/**
 * What applies to every skill that is really in the root without its own grant: `undefined` if a link leads to the
 * root, the reason names the skill, or a folder in the root decides for some of them.
 */
function commonDecision(input: TrustInput): TrustDecision | undefined {
  const { root, folderGrants, trustedPaths } = input;
  if (root.kind === "foreign" || root.isLink) return undefined;
  const deciding = [root.grantFolder, ...trustedPaths, ...folderGrants.map(({ path }) => path)];
  return deciding.some((path) => isBelow(path, root.realPath)) ? undefined : decideTrust(input);
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isInside(path, folder);
}

/** What a skill may get now. */
export interface SkillTrust {
  readonly trust: TrustDecision;
  /** Whether values from the user's config may reach it: a project's skill needs a grant for them. */
  readonly userValues: TrustDecision;
  /** Why a skill differs from its lock or its server's declaration; such a skill is not used. */
  readonly changed?: Diagnostic | undefined;
}

export type TrustOnUse = (skill: Skill) => SkillTrust;

/** For every use of a catalog's skill: hashes its files again if a grant or a lock is bound to its content. */
export function trustOnUse(roots: readonly SkillRoot[], inputs: TrustInputs): TrustOnUse {
  let facts: TrustFacts | undefined;
  return (skill) => {
    // Defined in code: nothing on disk could have changed.
    if (skill.location === "") return { trust: skill.trust, userValues: skill.trust };
    if (skill.remote) return remoteTrust(skill, skill.remote, inputs.grants);
    const root = roots.find(({ path, scope }) => path === skill.root && scope === skill.scope);
    if (root === undefined) return { trust: UNKNOWN_ROOT, userValues: UNKNOWN_ROOT };
    facts ??= gatherTrustFacts(roots, inputs);
    const { name, form, location, directory } = skill;
    const subject = { name, form, location, directory, root, realFile: realPathOr(location) };
    let identity: Result<ContentIdentity, Diagnostic> | undefined;
    const identify = (): Result<ContentIdentity, Diagnostic> => {
      identity ??= identifyContent(subject);
      return identity;
    };
    const changed = checkLock(skill, identify);
    if (changed) {
      const trust = skill.source ? NOT_AS_GIVEN : NOT_AS_LOCKED;
      return { trust, userValues: trust, changed };
    }
    const skillGrant = findGrant(subject, inputs.grants, (grant) => compareWithGrant(grant, identify()));
    const input = facts.of(subject, skillGrant);
    return { trust: decideTrust(input), userValues: decideUserValues(input) };
  };
}

const NOT_AS_LOCKED: TrustDecision = {
  level: "untrusted",
  reason: "It does not match its lock.",
};

const NOT_AS_GIVEN: TrustDecision = {
  level: "untrusted",
  reason: "Its files do not match its source; restore them with `reload()`.",
};

function checkLock(
  skill: Skill,
  identify: () => Result<ContentIdentity, Diagnostic>,
): Diagnostic | undefined {
  const { locked, source } = skill;
  if (source) {
    return checkDigest(skill, identify(), source.digest, {
      code: "source.changed-content",
      whose: `the source \`${source.source}\` provided`,
      hint: "Call `reload()` to restore its files.",
    });
  }
  if (locked === undefined || locked.linked) return undefined;
  return checkDigest(skill, identify(), locked.digest, {
    code: "lock.changed-content",
    whose: `\`${locked.lock}\` records`,
    hint: forReader({
      command: "See the differences with `metier verify`; restore it with `metier install`.",
      program: "See the differences with `verify()`; restore it with `install()`.",
    }),
  });
}

/** `whose` says who has another digest. */
function checkDigest(
  { name, directory }: Skill,
  found: Result<ContentIdentity, Diagnostic>,
  digest: string,
  { code, whose, hint }: Pick<Diagnostic, "code" | "hint"> & { readonly whose: string },
): Diagnostic | undefined {
  if (!found.ok) return found.refusal;
  if (found.value.digest === digest) return undefined;
  const message = `\`${name}\` has the content \`${found.value.digest}\`, but ${whose} \`${digest}\`.`;
  return { code, severity: "error", path: directory, message, hint };
}

function remoteTrust(skill: Skill, remote: RemoteOrigin, grants: Grants): SkillTrust {
  const changed = checkDigest(skill, identifyFolder(skill.directory), remote.digest, {
    code: "remote.changed-content",
    whose: `the MCP server \`${remote.server}\` declares`,
    hint: "Use it again to fetch it again.",
  });
  const trust = changed ? NOT_AS_DECLARED : decideRemoteTrust(skill.name, remote, grants);
  return { trust, userValues: trust, changed };
}

const NOT_AS_DECLARED: TrustDecision = {
  level: "untrusted",
  reason: "Its fetched files do not match its MCP server's declaration.",
};

const UNKNOWN_ROOT: TrustDecision = {
  level: "untrusted",
  reason: "Its folder is no longer searched; reload the catalog.",
};

/** For a root that is a skill file in a folder, the folder: that is the skill. */
function trustRoot({ kind, path, grantFolder }: SkillRoot, realPathOf: RealPathOf): TrustRoot {
  const place = isSkillFileName(basename(path)) ? dirname(path) : path;
  const realPath = realPathOf(place);
  const folder = realPathOf(grantFolder);
  return { kind, realPath, grantFolder: folder, isLink: realPath !== place };
}

/** The state of the grant that applies, or of the likeliest one if none does. */
function findGrant(
  { name, location }: TrustSubject,
  grants: Grants,
  check: (grant: SkillGrant) => GrantCheck,
): GrantCheck | undefined {
  if (grants.skills.length === 0) return undefined;
  const checks = findSkillGrants(grants.skills, name, location).map(check);
  return checks.find(({ valid }) => valid) ?? checks[0];
}
