/** Which of several agents or commands of one name counts: the highest rank, but never an untrusted one over a trusted. */
import { compareText, type Diagnostic } from "../foundation/diagnostic.ts";
import type { TrustDecision } from "../skill/skill.ts";

export interface Ranked {
  readonly name: string;
  /** The file; `""` for one that the embedding program gave. */
  readonly location: string;
  readonly rank: number;
  readonly trust: TrustDecision;
}

export interface Resolved<Definition> {
  /** By name, sorted. */
  readonly winners: ReadonlyMap<string, Definition>;
  /** About every one that does not count. */
  readonly diagnostics: readonly Diagnostic[];
}

export function resolveDefinitions<Definition extends Ranked>(
  word: "agent" | "command",
  definitions: readonly Definition[],
): Resolved<Definition> {
  const winners = new Map<string, Definition>();
  const diagnostics: Diagnostic[] = [];
  for (const definition of definitions.toSorted(compareRanked)) {
    const winner = winners.get(definition.name);
    if (winner === undefined) winners.set(definition.name, definition);
    else diagnostics.push(reportLoser(word, definition, winner));
  }
  return { winners: new Map([...winners].sort(([a], [b]) => compareText(a, b))), diagnostics };
}

function compareRanked(a: Ranked, b: Ranked): number {
  return (
    Number(b.trust.level === "trusted") - Number(a.trust.level === "trusted") ||
    b.rank - a.rank ||
    compareText(a.location, b.location)
  );
}

function reportLoser(word: string, loser: Ranked, winner: Ranked): Diagnostic {
  const other = winner.location === "" ? "one of the embedding program" : `\`${winner.location}\``;
  const path = loser.location || `${word}:${loser.name}`;
  const named = `The ${word} \`${loser.name}\``;
  if (loser.rank > winner.rank) {
    return {
      code: "definition.untrusted-shadow",
      severity: "warning",
      path,
      message: `${named} is untrusted and does not replace the trusted one, ${other}.`,
      hint: loser.trust.reason,
    };
  }
  if (loser.rank === winner.rank) {
    return {
      code: "definition.conflict",
      severity: "warning",
      path,
      message: `${named} is there twice; ${other} counts.`,
      hint: "Rename one of them.",
    };
  }
  return {
    code: "definition.shadowed",
    severity: "info",
    path,
    message: `${named} is replaced by ${other}.`,
  };
}
