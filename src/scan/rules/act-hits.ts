/** From what code does to a place in a file, with a severity that regards where the code stands. */

import { SCAN_SEVERITIES, type ScanSeverity } from "../../config/scan-fields.ts";
import type { Act, ActKind } from "../code/act.ts";
import { placeIn } from "../code/code-part.ts";
import { milderOf } from "../finding.ts";
import type { Hit } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { isWarning } from "../warning.ts";

export interface ActDetails {
  readonly detail?: string;
  readonly severity: ScanSeverity;
}

/** In the order of the code. Every rule about code asks, so they are set apart once. */
export function actsOf(skill: ScannedSkill, ...kinds: readonly ActKind[]): readonly Act[] {
  const [only, ...others] = kinds;
  if (only === undefined || others.length > 0) return skill.acts.filter(({ kind }) => kinds.includes(kind));
  const byKind = sorted.get(skill) ?? Map.groupBy(skill.acts, ({ kind }) => kind);
  sorted.set(skill, byKind);
  return byKind.get(only) ?? [];
}

const sorted = new WeakMap<ScannedSkill, ReadonlyMap<ActKind, readonly Act[]>>();

export function actHit(act: Act, { detail, severity }: ActDetails): Hit {
  const { part, at, seen } = act;
  const { line, column } = placeIn(part, at);
  return {
    path: part.path,
    line,
    column,
    seen,
    severity: gradeByPlace(act, severity),
    ...(detail !== undefined && { detail }),
  };
}

/** What a document warns of is at most `low`; what a sentence only mentions, and does not say to run, is one step milder. */
function gradeByPlace(act: Act, severity: ScanSeverity): ScanSeverity {
  const { part } = act;
  if (isDocumented(act) && (part.isWarning || hasWarningBefore(act))) return milderOf(severity, "low");
  return part.kind === "span" && !part.isToBeRun ? stepDown(severity) : severity;
}

function stepDown(severity: ScanSeverity): ScanSeverity {
  return SCAN_SEVERITIES[SCAN_SEVERITIES.indexOf(severity) - 1] ?? severity;
}

export function stepUp(severity: ScanSeverity): ScanSeverity {
  return SCAN_SEVERITIES[SCAN_SEVERITIES.indexOf(severity) + 1] ?? severity;
}

/** Shown in a document, where a person or a model reads it before it is done. */
export function isDocumented({ part: { kind } }: Act): boolean {
  return kind === "block" || kind === "span";
}

/** A comment on the line, or on the one or two before it. */
function hasWarningBefore({ part: { text, within }, at }: Act): boolean {
  if (within) return false;
  const lineEnd = text.indexOf("\n", at);
  const before = text
    .slice(0, lineEnd === -1 ? text.length : lineEnd)
    .split("\n")
    .slice(-3);
  const comments = before.flatMap((line) => /(?:^|\s)(?:#|\/\/)\s?(.*)$/.exec(line)?.[1] ?? []);
  return isWarning(comments.join("\n"));
}
