/**
 * Decides whether a skill is trusted, and why, in one sentence that says what to do. The decision is pure: paths are
 * real paths, grants are read and checked before. Nothing is trusted because of the path it was written as.
 */

import { isInside, type Places } from "@metier/base/places";
import { forReader } from "@metier/base/text";
import type { RemoteFile, RemoteOrigin, TrustDecision } from "../skill/skill.ts";
import type { Scope } from "../skill/skill-name.ts";
import { compareIdentity, digestFiles, type FileChange, type IdentifiedFile } from "./content-identity.ts";
import { grantSkill } from "./grant-store.ts";
import {
  type FolderGrant,
  type GrantCheck,
  type Grants,
  nearestFolderGrant,
  type SkillGrant,
} from "./grants.ts";
import { lowerTrust } from "./trust-policy.ts";

/**
 * `own`: bundled, the embedding program's, `~/.metier/skills` or a preset's user folder. `vouched`: project folders and
 * the user folders that other installers fill. `foreign`: custom, installed, remote.
 */
export type RootKind = "own" | "vouched" | "foreign";

/** The library's program vouches for the folders it opens; the command line asks its user. */
export type Embedding = "library" | "command-line";

export interface TrustRoot {
  readonly kind: RootKind;
  readonly realPath: string;
  /** What a folder grant for this root is bound to: the project, or the folder itself. */
  readonly grantFolder: string;
  /** The root itself was reached through a link, so it may be in another root. */
  readonly isLink?: boolean;
}

export interface TrustInput {
  readonly name: string;
  readonly scope: Scope;
  /** The root where the skill was found. */
  readonly root: TrustRoot;
  /** Of the skill's folder, or a flat skill's file; `""` for a skill defined in code. */
  readonly realPath: string;
  /** Every searched root: a link may lead from one into another. */
  readonly knownRoots: readonly TrustRoot[];
  readonly embedding: Embedding;
  readonly folderGrants: readonly FolderGrant[];
  /** The state of the user's grant for this skill, if there is one. */
  readonly skillGrant?: GrantCheck;
  /** Real paths; each includes everything in it. */
  readonly trustedPaths: readonly string[];
  /** The program source that provides it: no path decides about it. */
  readonly source?: string | undefined;
}

/** The most specific decision wins: the skill's own grant, then the nearest folder, then its root's kind. */
export function decideTrust(input: TrustInput): TrustDecision {
  if (input.skillGrant?.valid) return trusted("You trusted its content, and it is unchanged.");
  const { root, realPath } = input;
  const stays = isInside(realPath, root.realPath);
  const asReached = decideFor(input, root, stays ? realPath : root.realPath);
  if (realPath === "" || (stays && !root.isLink)) return asReached;
  const asStored = decideWhereItStands(input, stays);
  return lowerTrust(asReached.level, asStored.level) === asReached.level ? asReached : asStored;
}

/**
 * Whether values from the user's config may reach the skill. A project's skill needs a grant for that in the library
 * too: the program vouches for the folder, but the values are the user's.
 */
export function decideUserValues(input: TrustInput): TrustDecision {
  return decideTrust(input.scope === "project" ? { ...input, embedding: "command-line" } : input);
}

/** For a skill reached through a link: the lowest answer among the innermost roots that contain it. */
function decideWhereItStands(input: TrustInput, stays: boolean): TrustDecision {
  const holders = input.knownRoots.filter((root) => isInside(input.realPath, root.realPath));
  const depth = Math.max(0, ...holders.map((root) => root.realPath.length));
  const decisions = holders
    .filter((root) => root.realPath.length === depth)
    .map((root) => decideFor(input, root, input.realPath));
  if (decisions.length === 0 && !stays) {
    return untrusted(`A link points to \`${input.realPath}\`, which is not in a searched skills folder.`);
  }
  const lowest = decisions.find((decision) => decision.level === "untrusted");
  return lowest ?? trusted("The link stays within trusted folders.");
}

function decideFor(input: TrustInput, root: TrustRoot, path: string): TrustDecision {
  if (root.kind === "own") return trusted(OWN_REASONS[input.scope] ?? "It is in your own folder.");
  const grant = nearestFolderGrant(input.folderGrants, path);
  const [trustedPath] = input.trustedPaths
    .filter((candidate) => isInside(path, candidate))
    .sort((a, b) => b.length - a.length);
  if (grant?.decision === "denied" && grant.path.length >= (trustedPath?.length ?? 0)) {
    const how = forReader({
      command: `${trustCommand(grant.path)} changes that`,
      program: "`trustedPaths` changes that",
    });
    return untrusted(`You declined to trust \`${grant.path}\`; ${how}.`);
  }
  if (trustedPath !== undefined) return trusted(`\`trusted-paths\` contains \`${trustedPath}\`.`);
  const change = describeBrokenGrant(input);
  if (input.source !== undefined) {
    const until = 'unless that says `trust: "trusted"`';
    return untrusted(change ?? `It comes from the source \`${input.source}\` and is untrusted ${until}.`);
  }
  if (root.kind === "foreign") {
    const until = forReader({
      command: `${trustCommand(...wordsForSkill(input.name, input.scope, input.root.realPath))} or \`trusted-paths\` in your config changes that`,
      program: "`trustedPaths`, or `trusted-paths` in the user's config, names its folder",
      upload: () => "an admin grants exactly this content",
    });
    const what = forReader({
      command: `A skill of scope \`${input.scope}\``,
      program: `A skill of scope \`${input.scope}\``,
      upload: () => "An uploaded skill",
    });
    return untrusted(change ?? `${what} is untrusted until ${until}.`);
  }
  if (grant?.decision === "trusted") return trusted(`You trust the folder \`${grant.path}\`.`);
  const folder = isInside(path, root.grantFolder) ? root.grantFolder : root.realPath;
  if (input.embedding === "library") return trusted(`The embedding program vouches for \`${folder}\`.`);
  const how = forReader({ command: trustCommand(folder), program: '`trust: "vouch"` or `trustedPaths`' });
  return untrusted(change ?? `\`${folder}\` is not trusted yet; ${how} trusts it.`);
}

const OWN_REASONS: Partial<Record<Scope, string>> = {
  bundled: "It is part of Metier.",
  integration: "The embedding program provides it.",
};

const MOST_CHANGES_SHOWN = 3;

function describeBrokenGrant({ name, scope, root, skillGrant }: TrustInput): string | undefined {
  if (!skillGrant || skillGrant.valid) return undefined;
  const what = skillGrant.diagnostic?.message ?? `${describeChanges(skillGrant.changes)}.`;
  const how = forReader({
    command: `${trustCommand(...wordsForSkill(name, scope, root.realPath))} trusts it again`,
    program: "have the user trust it again",
  });
  return `It is no longer what you trusted: ${what} Review it, then ${how}.`;
}

/** A few of them, in words. */
function describeChanges(changes: readonly FileChange[]): string {
  const shown = changes
    .slice(0, MOST_CHANGES_SHOWN)
    .map(({ path, change }) => `\`${path}\` ${CHANGE_WORDS[change]}`);
  const more = changes.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ") || "the recorded content is different";
}

const CHANGE_WORDS: Record<FileChange["change"], string> = {
  added: "was added",
  removed: "was removed",
  changed: "was changed",
  mode: "changed its executable bit",
};

/** How a command names a skill: one from a custom path isn't found by name alone if only `--path` leads to it. */
export function wordsForSkill(name: string, scope: Scope, root: string): readonly string[] {
  return scope === "custom" ? [name, "--path", root] : [name];
}

function trustCommand(...words: readonly string[]): string {
  return shownCommand("trust", ...words);
}

/** Meant to be pasted into a shell, so a folder's name must be harmless there. */
export function shownCommand(...words: readonly string[]): string {
  const quote = (word: string): string =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return `\`metier ${words.map(quote).join(" ")}\``;
}

function trusted(reason: string): TrustDecision {
  return { level: "trusted", reason };
}

function untrusted(reason: string): TrustDecision {
  return { level: "untrusted", reason };
}

// A skill of an MCP server is trusted only if the user approved exactly the files that the server declares. Where its
// files are stored makes no difference, nor does a grant for the same bytes from elsewhere.

/** The location in a grant: not a path, so it never means a file on disk. */
export function remoteLocation({ server, uri }: Pick<RemoteOrigin, "server" | "uri">): string {
  return `mcp:${server}:${uri}`;
}

/** The files' content identity, before any of them was fetched. */
export function identifyRemote(files: readonly RemoteFile[]): string {
  return digestFiles(toIdentified(files));
}

export function decideRemoteTrust(name: string, remote: RemoteOrigin, grants: Grants): TrustDecision {
  const grant = findGrant(remote, grants);
  const server = `the MCP server \`${remote.server}\``;
  const approve = forReader({
    command: `\`metier remote approve ${name}\``,
    program: `\`remote.approve("${name}")\``,
  });
  if (grant === undefined)
    return untrusted(`It comes from ${server} and is untrusted until ${approve} approves it.`);
  if (grant.digest === remote.digest)
    return trusted(`You approved it as declared by ${server}, and it is unchanged.`);
  const what = describeChanges(changesSince(grant, remote));
  return untrusted(
    `It is no longer what you approved from ${server}: ${what}. Review it, then ${approve} approves it again.`,
  );
}

/** What the server has changed since the approval; `undefined` if there is none. */
export function remoteChanges(remote: RemoteOrigin, grants: Grants): readonly FileChange[] {
  const grant = findGrant(remote, grants);
  return grant ? changesSince(grant, remote) : [];
}

/** Records the user's approval of the declared files; none must be fetched for it. */
export function approveRemote(
  places: Pick<Places, "grantsFile">,
  name: string,
  remote: RemoteOrigin,
): SkillGrant {
  const files = toIdentified(remote.files).map((file) => ({ ...file, stamp: "" }));
  const identity = { digest: remote.digest, files };
  return grantSkill(places, { name, location: remoteLocation(remote), identity }).grant;
}

function changesSince({ files }: SkillGrant, remote: RemoteOrigin): readonly FileChange[] {
  return compareIdentity(files, toIdentified(remote.files));
}

function findGrant(remote: RemoteOrigin, { skills }: Grants): SkillGrant | undefined {
  const location = remoteLocation(remote);
  return skills.findLast((grant) => grant.location === location);
}

/** As they are written here: none is executable, and none is a link. */
function toIdentified(files: readonly RemoteFile[]): readonly IdentifiedFile[] {
  return files
    .map(({ path, size, digest }) => ({ path, kind: "file", size, executable: false, digest }) as const)
    .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}
