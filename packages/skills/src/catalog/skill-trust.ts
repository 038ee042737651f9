/**
 * The facts that trust in a skill is decided on, gathered in one place: for a list, where the stamps stored with a grant
 * answer, and for a use, where everything is hashed anew.
 */

import { basename, dirname } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isInside, realPathOr } from "@metier/base/places";
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
}

/** What is asked about. */
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
    // Where the files of a source were put says nothing about them.
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
  readonly changed?: Diagnostic | undefined;
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
  reason: "It is not what its lock records.",
};

const NOT_AS_GIVEN: TrustDecision = {
  level: "untrusted",
  reason: "Its files are not what its source gave; `reload()` puts them there again.",
};

function checkLock(
  skill: Skill,
  identify: () => Result<ContentIdentity, Diagnostic>,
): Diagnostic | undefined {
  const { locked, source } = skill;
  if (source) {
    return checkDigest(skill, identify(), source.digest, {
      code: "source.changed-content",
      whose: `what the source \`${source.source}\` gave has`,
      hint: "Call `reload()`: its files are put there again.",
    });
  }
  if (locked === undefined || locked.linked) return undefined;
  return checkDigest(skill, identify(), locked.digest, {
    code: "lock.changed-content",
    whose: `\`${locked.lock}\` records`,
    hint: forReader({
      command: "`metier verify` shows what differs, `metier install` restores it.",
      program: "`verify()` shows what differs, `install()` restores it.",
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
    hint: "Use it again: it is fetched anew.",
  });
  const trust = changed ? NOT_AS_DECLARED : decideRemoteTrust(skill.name, remote, grants);
  return { trust, userValues: trust, changed };
}

const NOT_AS_DECLARED: TrustDecision = {
  level: "untrusted",
  reason: "What was fetched of it is not what its MCP server declares.",
};

const UNKNOWN_ROOT: TrustDecision = {
  level: "untrusted",
  reason: "The folder it was found in is not searched any more; load the catalog again.",
};

/** Of a root that is the file of a skill in a folder, the folder: that is what a skill is. */
function trustRoot({ kind, path, grantFolder }: SkillRoot): TrustRoot {
  const place = isSkillFileName(basename(path)) ? dirname(path) : path;
  const realPath = realPathOr(place);
  const folder = grantFolder === place ? realPath : realPathOr(grantFolder);
  return { kind, realPath, grantFolder: folder, isLink: realPath !== place };
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
