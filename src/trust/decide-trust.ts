/**
 * Whether a skill is trusted, and why, in one sentence that says what to do. Pure: paths are real paths, grants are
 * read and checked before. Nothing is trusted for the path it was written as.
 */
import { isInside } from "../host/places.ts";
import type { Scope } from "../skill/scope.ts";
import type { TrustDecision } from "../skill/skill.ts";
import type { GrantCheck } from "./check-skill-grant.ts";
import type { FileChange } from "./content-identity.ts";
import { type FolderGrant, nearestFolderGrant } from "./grants.ts";
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
  /** What a folder grant for this root binds to: the project, or the folder itself. */
  readonly grantFolder: string;
  /** The root itself was reached over a link, so it may lie in another root. */
  readonly isLink?: boolean;
}

export interface TrustInput {
  readonly name: string;
  readonly scope: Scope;
  /** The root the skill was found under. */
  readonly root: TrustRoot;
  /** Of the skill's folder, or of the file of a flat skill; `""` for a skill given as an object. */
  readonly realPath: string;
  /** Every root that is searched: a link may lead from one into another. */
  readonly knownRoots: readonly TrustRoot[];
  readonly embedding: Embedding;
  readonly folderGrants: readonly FolderGrant[];
  /** What became of the user's grant for this skill, if there is one. */
  readonly skillGrant?: GrantCheck;
  /** Real paths; each counts with everything below it. */
  readonly trustedPaths: readonly string[];
}

/** The most specific decision wins: the skill's own grant, then the nearest folder, then what its root stands for. */
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
 * Whether values of the user's config may reach the skill. A project's skill needs a grant for that in the library
 * too: the program vouches for the folder, but the values are the user's.
 */
export function decideUserValues(input: TrustInput): TrustDecision {
  return decideTrust(input.scope === "project" ? { ...input, embedding: "command-line" } : input);
}

/** For a skill reached over a link: the lowest answer among the innermost roots that hold it. */
function decideWhereItStands(input: TrustInput, stays: boolean): TrustDecision {
  const holders = input.knownRoots.filter((root) => isInside(input.realPath, root.realPath));
  const depth = Math.max(0, ...holders.map((root) => root.realPath.length));
  const decisions = holders
    .filter((root) => root.realPath.length === depth)
    .map((root) => decideFor(input, root, input.realPath));
  if (decisions.length === 0 && !stays) {
    return untrusted(`A link leads to \`${input.realPath}\`, which is in no skills folder that is searched.`);
  }
  const lowest = decisions.find((decision) => decision.level === "untrusted");
  return lowest ?? trusted("The link stays within folders that are trusted.");
}

function decideFor(input: TrustInput, root: TrustRoot, path: string): TrustDecision {
  if (root.kind === "own") return trusted(OWN_REASONS[input.scope] ?? "It stands in a folder of your own.");
  const grant = nearestFolderGrant(input.folderGrants, path);
  const trustedPath = longest(input.trustedPaths.filter((candidate) => isInside(path, candidate)));
  if (grant?.decision === "denied" && grant.path.length >= (trustedPath?.length ?? 0)) {
    return untrusted(`You declined to trust \`${grant.path}\`; ${trustCommand(grant.path)} changes that.`);
  }
  if (trustedPath !== undefined) return trusted(`\`trusted-paths\` names \`${trustedPath}\`.`);
  const change = describeBrokenGrant(input);
  if (root.kind === "foreign") return untrusted(change ?? foreignReason(input));
  if (grant?.decision === "trusted") return trusted(`You trust the folder \`${grant.path}\`.`);
  const folder = isInside(path, root.grantFolder) ? root.grantFolder : root.realPath;
  if (input.embedding === "library") return trusted(`The embedding program vouches for \`${folder}\`.`);
  return untrusted(change ?? `\`${folder}\` is not trusted yet; ${trustCommand(folder)} trusts it.`);
}

const OWN_REASONS: Partial<Record<Scope, string>> = {
  bundled: "It is part of Metier.",
  integration: "The embedding program brings it.",
};

function foreignReason({ name, scope }: TrustInput): string {
  const command = trustCommand(name);
  return `A skill of scope \`${scope}\` is untrusted until ${command} or \`trusted-paths\` in your config says otherwise.`;
}

const MOST_CHANGES_SHOWN = 3;

function describeBrokenGrant({ name, skillGrant }: TrustInput): string | undefined {
  if (!skillGrant || skillGrant.valid) return undefined;
  const what = skillGrant.diagnostic?.message ?? `${describeChanges(skillGrant.changes)}.`;
  return `It is no longer what you trusted: ${what} Look at it, then ${trustCommand(name)} trusts it again.`;
}

/** A few of them, in words. */
export function describeChanges(changes: readonly FileChange[]): string {
  const shown = changes
    .slice(0, MOST_CHANGES_SHOWN)
    .map(({ path, change }) => `\`${path}\` ${CHANGE_WORDS[change]}`);
  const more = changes.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ") || "the recorded content differs";
}

const CHANGE_WORDS: Record<FileChange["change"], string> = {
  added: "was added",
  removed: "was removed",
  changed: "was changed",
  mode: "changed its executable bit",
};

/** Meant to be pasted into a shell, so a folder's name must not be able to act there. */
export function trustCommand(...words: readonly string[]): string {
  const quote = (word: string): string =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return `\`metier trust ${words.map(quote).join(" ")}\``;
}

function longest(paths: readonly string[]): string | undefined {
  return paths.reduce<string | undefined>(
    (best, path) => (path.length > (best?.length ?? -1) ? path : best),
    undefined,
  );
}

function trusted(reason: string): TrustDecision {
  return { level: "trusted", reason };
}

function untrusted(reason: string): TrustDecision {
  return { level: "untrusted", reason };
}
