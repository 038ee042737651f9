/**
 * Decides which skill wins a name. Shadowing comes before filtering: a disabled or unavailable skill of higher
 * precedence still shadows the lower one. One exception: an untrusted skill never shadows a trusted one.
 */

import type { Diagnostic } from "@metier/base/diagnostic";
import { compareText, forReader } from "@metier/base/text";
import { trustAllows } from "../trust/trust-policy.ts";
import type { PlacedSkill } from "./place-skills.ts";

export interface Resolution {
  readonly winner: PlacedSkill;
  /** Highest precedence first. */
  readonly shadowed: readonly { readonly skill: PlacedSkill; readonly reason: string }[];
}

interface ResolvedNames {
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
  const shadowed = losers.map((skill) => {
    const { reason, report } = explainLoss(winner, skill);
    if (report) diagnostics.push(report);
    return { skill, reason };
  });
  return { winner, shadowed };
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

interface Loss {
  readonly reason: string;
  readonly report?: Diagnostic;
}

/** Why a skill does not win, and the message about it. */
function explainLoss(winner: PlacedSkill, loser: PlacedSkill): Loss {
  const { name } = winner.manifest;
  const { file, directory, form } = winner.candidate;
  const { scope, rank } = loser.root;
  const path = loser.candidate.file;
  const place = `the ${winner.root.scope} skill at ${file}`;
  if (rank > winner.root.rank && !mayShadow(loser) && mayShadow(winner)) {
    const report: Diagnostic = {
      code: "catalog.untrusted-shadow",
      severity: "warning",
      path,
      line: 1,
      message: `The untrusted ${scope} skill \`${name}\` does not replace the trusted one at \`${file}\`.`,
      hint: forReader({
        command: `Review it, then run \`metier trust ${scope}:${name}\` to let it win; or use it as \`${scope}:${name}\`.`,
        program: `Review it, then name its folder in \`trustedPaths\` to let it win; or use it as \`${scope}:${name}\`.`,
      }),
    };
    return { reason: `untrusted, so it does not replace ${place}`, report };
  }
  if (winner.root.rank !== rank) return { reason: `shadowed by ${place}` };
  if (form === "directory" && loser.candidate.form !== "directory") {
    const report: Diagnostic = {
      code: "catalog.directory-beats-flat",
      severity: "info",
      path,
      line: 1,
      message: `The flat skill \`${path}\` has the name of the skill folder \`${directory}\`, which wins.`,
      hint: "Remove or rename one of the two.",
    };
    return { reason: `a flat file next to the folder at ${file}`, report };
  }
  const report: Diagnostic = {
    code: "catalog.conflict",
    severity: "error",
    path,
    line: 1,
    message: `Two ${winner.root.scope} skills are named \`${name}\`: \`${file}\` and \`${path}\`. The first is used.`,
    hint: "Rename or remove one of the two.",
  };
  return { reason: `same name and scope as ${place}, which comes first in sorted order`, report };
}

function mayShadow({ trust }: PlacedSkill): boolean {
  return trustAllows(trust.level, "shadow-trusted-skill");
}
