/**
 * The facts that trust in a skill is decided on, gathered in one place: for a list, where the stamps stored with a grant
 * answer, and for a use, where everything is hashed anew.
 */
import { basename, dirname } from "node:path";
import type { Config } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { RemoteOrigin, Skill, TrustDecision } from "../skill/skill.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import { checkSkillGrant, compareWithGrant, type GrantCheck } from "../trust/check-skill-grant.ts";
import { type IdentityOutcome, identifyContent, identifyFolder } from "../trust/content-identity.ts";
import {
  decideTrust,
  decideUserValues,
  type Embedding,
  type TrustInput,
  type TrustRoot,
} from "../trust/decide-trust.ts";
import { findSkillGrants, type Grants, type SkillGrant } from "../trust/grants.ts";
import type { SkillContent } from "../trust/list-content.ts";
import { decideRemoteTrust } from "../trust/remote-trust.ts";
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

interface TrustFacts {
  of(subject: TrustSubject, skillGrant: GrantCheck | undefined): TrustInput;
  /** As for a nameless skill without a grant that is the root itself. */
  ofRoot(root: SkillRoot): TrustInput;
  readonly diagnostics: readonly Diagnostic[];
}

function gatherTrustFacts(
  roots: readonly SkillRoot[],
  { config, grants, embedding }: TrustInputs,
): TrustFacts {
  const trusted = resolveTrustedPaths(config.skills.trustedPaths);
  const trustRoots = new Map(roots.map((root) => [root, trustRoot(root)]));
  const known = {
    knownRoots: [...trustRoots.values()],
    embedding,
    folderGrants: grants.folders,
    trustedPaths: trusted.paths,
  };
  const ofRoot = (root: SkillRoot): TrustInput => {
    const trust = trustRoots.get(root) ?? trustRoot(root);
    return { ...known, name: "", scope: root.scope, root: trust, realPath: trust.realPath };
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

export interface TrustInList {
  /** Answers for the skills of one root. */
  inRoot(root: SkillRoot): (subject: TrustSubject) => TrustDecision;
  readonly diagnostics: readonly Diagnostic[];
}

/** To list skills only: the stamps stored with a grant answer, and skills share a decision where none can differ. */
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
 * What holds for every skill that really stands below the root and has no grant of its own: nothing, where a link leads
 * to the root, the reason names the skill, or a folder below the root decides for some of them.
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

/** What a skill may be given now. */
export interface SkillTrust {
  readonly trust: TrustDecision;
  /** Whether values of the user's config may reach it: a project's skill needs a grant for them. */
  readonly userValues: TrustDecision;
  /** Why a skill is not what its lock records, or its server declares; such a skill is not used. */
  readonly changed?: Diagnostic;
}

export type TrustOnUse = (skill: Skill) => SkillTrust;

/** For every use of a skill of a catalog: its files are hashed anew where a grant or a lock is for its content. */
export function trustOnUse(roots: readonly SkillRoot[], inputs: TrustInputs): TrustOnUse {
  let facts: TrustFacts | undefined;
  return (skill) => {
    // Given as an object: there is nothing on disk that could have changed.
    if (skill.location === "") return { trust: skill.trust, userValues: skill.trust };
    if (skill.remote) return remoteTrust(skill, skill.remote, inputs.grants);
    const root = roots.find(({ path, scope }) => path === skill.root && scope === skill.scope);
    if (root === undefined) return { trust: UNKNOWN_ROOT, userValues: UNKNOWN_ROOT };
    facts ??= gatherTrustFacts(roots, inputs);
    const { name, form, location, directory } = skill;
    const subject = { name, form, location, directory, root, realFile: realPathOr(location) };
    let identity: IdentityOutcome | undefined;
    const identify = (): IdentityOutcome => {
      identity ??= identifyContent(subject);
      return identity;
    };
    const changed = checkLock(skill, identify);
    if (changed) return { trust: NOT_AS_LOCKED, userValues: NOT_AS_LOCKED, changed };
    const skillGrant = findGrant(subject, inputs.grants, (grant) => compareWithGrant(grant, identify()));
    const input = facts.of(subject, skillGrant);
    return { trust: decideTrust(input), userValues: decideUserValues(input) };
  };
}

const NOT_AS_LOCKED: TrustDecision = {
  level: "untrusted",
  reason:
    "It is not what its lock records; `metier verify` shows what differs, `metier install` restores it.",
};

function checkLock(
  { name, directory, locked }: Skill,
  identify: () => IdentityOutcome,
): Diagnostic | undefined {
  if (locked === undefined || locked.linked) return undefined;
  const { lock, digest } = locked;
  const outcome = identify();
  if (!outcome.ok) return outcome.diagnostic;
  if (outcome.identity.digest === digest) return undefined;
  return {
    code: "lock.changed-content",
    severity: "error",
    path: directory,
    message: `\`${name}\` has the content \`${outcome.identity.digest}\`, but \`${lock}\` records \`${digest}\`.`,
    hint: "`metier verify` shows what differs, `metier install` restores it.",
  };
}

function remoteTrust(skill: Skill, remote: RemoteOrigin, grants: Grants): SkillTrust {
  const changed = checkFetched(skill, remote);
  const trust = changed ? NOT_AS_DECLARED : decideRemoteTrust(skill.name, remote, grants);
  return { trust, userValues: trust, ...(changed && { changed }) };
}

const NOT_AS_DECLARED: TrustDecision = {
  level: "untrusted",
  reason: "What was fetched of it is not what its MCP server declares.",
};

function checkFetched({ name, directory }: Skill, { server, digest }: RemoteOrigin): Diagnostic | undefined {
  const outcome = identifyFolder(directory);
  if (!outcome.ok) return outcome.diagnostic;
  if (outcome.identity.digest === digest) return undefined;
  return {
    code: "remote.changed-content",
    severity: "error",
    path: directory,
    message: `\`${name}\` has the content \`${outcome.identity.digest}\`, but the MCP server \`${server}\` declares \`${digest}\`.`,
    hint: "Use it again: it is fetched anew.",
  };
}

const UNKNOWN_ROOT: TrustDecision = {
  level: "untrusted",
  reason: "The folder it was found in is not searched any more; load the catalog again.",
};

/** Of a root that is the file of a skill in a folder, the folder: that is what a skill is. */
function trustRoot({ kind, path, grantFolder }: SkillRoot): TrustRoot {
  const place = /^skill\.md$/i.test(basename(path)) ? dirname(path) : path;
  const realPath = realPathOr(place);
  return { kind, realPath, grantFolder: realPathOr(grantFolder), isLink: realPath !== place };
}

/** What became of the grant that holds, or of the likeliest one if none does. */
function findGrant(
  { name, location }: TrustSubject,
  grants: Grants,
  check: (grant: SkillGrant) => GrantCheck,
): GrantCheck | undefined {
  if (grants.skills.length === 0) return undefined;
  const checks = findSkillGrants(grants.skills, name, location).map(check);
  return checks.find(({ valid }) => valid) ?? checks[0];
}
