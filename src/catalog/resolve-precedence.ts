/**
 * Who wins among skills of one name. Shadowing comes before filtering: a disabled or unavailable skill of higher
 * precedence still hides the lower one. One exception: an untrusted skill never hides a trusted one.
 */
import { compareText, type Diagnostic } from "../foundation/diagnostic.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import type { PlacedSkill } from "./placed-skill.ts";

export interface Resolution {
  readonly winner: PlacedSkill;
  /** Highest precedence first. */
  readonly shadowed: readonly { readonly skill: PlacedSkill; readonly reason: string }[];
}

export interface ResolvedNames {
  /** Sorted by name. */
  readonly resolutions: readonly Resolution[];
  readonly diagnostics: readonly Diagnostic[];
}

export function resolvePrecedence(skills: readonly PlacedSkill[]): ResolvedNames {
  const diagnostics: Diagnostic[] = [];
  const resolutions: Resolution[] = [];
  const sorted = skills.toSorted((a, b) => compareText(a.manifest.name, b.manifest.name));
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at] as PlacedSkill;
    let end = at + 1;
    while (sorted[end]?.manifest.name === first.manifest.name) end++;
    const isAlone = end === at + 1;
    resolutions.push(
      isAlone ? { winner: first, shadowed: NONE } : resolveGroup(first, sorted.slice(at, end), diagnostics),
    );
    at = end;
  }
  return { resolutions, diagnostics };
}

const NONE: readonly never[] = Object.freeze([]);

function resolveGroup(
  first: PlacedSkill,
  group: readonly PlacedSkill[],
  diagnostics: Diagnostic[],
): Resolution {
  const [winner = first, ...losers] = dropSameFile(group.toSorted(compareSkills), diagnostics);
  for (const loser of losers) reportLoser(winner, loser, diagnostics);
  return { winner, shadowed: losers.map((skill) => ({ skill, reason: shadowReason(winner, skill) })) };
}

/** Trusted first, then precedence, then folders before flat files, then by path: the first one wins. */
function compareSkills(a: PlacedSkill, b: PlacedSkill): number {
  return (
    Number(mayShadow(b)) - Number(mayShadow(a)) ||
    b.root.rank - a.root.rank ||
    Number(b.candidate.form === "directory") - Number(a.candidate.form === "directory") ||
    compareText(a.candidate.file, b.candidate.file)
  );
}

/** One file reached by two paths (a link between skills folders) is one skill, not a shadowed one. */
function dropSameFile(ordered: readonly PlacedSkill[], diagnostics: Diagnostic[]): readonly PlacedSkill[] {
  const seen = new Map<string, PlacedSkill>();
  return ordered.filter((skill) => {
    const other = skill.realFile === "" ? undefined : seen.get(skill.realFile);
    if (other === undefined) {
      seen.set(skill.realFile, skill);
      return true;
    }
    diagnostics.push({
      code: "catalog.same-skill-twice",
      severity: "info",
      path: skill.candidate.file,
      line: 1,
      message: `\`${skill.candidate.file}\` is the same file as \`${other.candidate.file}\`; it is listed once.`,
    });
    return false;
  });
}

function shadowReason(winner: PlacedSkill, loser: PlacedSkill): string {
  const place = `the ${winner.root.scope} skill at ${winner.candidate.file}`;
  if (isUntrustedShadow(winner, loser)) return `untrusted, so it does not replace ${place}`;
  if (isBesideFolder(winner, loser)) return `a flat file beside the folder at ${winner.candidate.file}`;
  if (winner.root.rank === loser.root.rank)
    return `same name and scope as ${place}, which comes first in sorted order`;
  return `shadowed by ${place}`;
}

function isUntrustedShadow(winner: PlacedSkill, loser: PlacedSkill): boolean {
  return loser.root.rank > winner.root.rank && !mayShadow(loser) && mayShadow(winner);
}

function mayShadow({ trust }: PlacedSkill): boolean {
  return trustAllows(trust.level, "shadow-trusted-skill");
}

function isBesideFolder(winner: PlacedSkill, loser: PlacedSkill): boolean {
  return (
    winner.root.rank === loser.root.rank &&
    winner.candidate.form === "directory" &&
    loser.candidate.form !== "directory"
  );
}

function reportLoser(winner: PlacedSkill, loser: PlacedSkill, diagnostics: Diagnostic[]): void {
  const { name } = winner.manifest;
  const path = loser.candidate.file;
  if (isUntrustedShadow(winner, loser)) {
    diagnostics.push({
      code: "catalog.untrusted-shadow",
      severity: "warning",
      path,
      line: 1,
      message: `The untrusted ${loser.root.scope} skill \`${name}\` does not replace the trusted one at \`${winner.candidate.file}\`.`,
      hint: `Read it, then \`metier trust ${loser.root.scope}:${name}\` if it is to win; or use it as \`${loser.root.scope}:${name}\`.`,
    });
  } else if (isBesideFolder(winner, loser)) {
    diagnostics.push({
      code: "catalog.directory-beats-flat",
      severity: "info",
      path,
      line: 1,
      message: `The flat skill \`${path}\` has the name of the skill folder \`${winner.candidate.directory}\`, which wins.`,
      hint: "Remove or rename one of the two.",
    });
  } else if (winner.root.rank === loser.root.rank) {
    diagnostics.push({
      code: "catalog.conflict",
      severity: "error",
      path,
      line: 1,
      message: `Two ${winner.root.scope} skills are named \`${name}\`: \`${winner.candidate.file}\` and \`${path}\`. The first is used.`,
      hint: "Rename or remove one of the two.",
    });
  }
}
