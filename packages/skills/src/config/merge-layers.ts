/**
 * Merges layers into one set of values. Users' own layers replace lower ones; a project file without a grant and the
 * policy only tighten. Every value remembers where it came from and what it replaced.
 */

import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "@metier/base/diagnostic";
import { forReader } from "@metier/base/text";
import type { Origin } from "./config.ts";
import type { ConfigField } from "./config-field.ts";
import { CONFIG_FIELDS, type FoundField } from "./config-fields.ts";
import type { Assignment } from "./read-assignments.ts";
import { formatKeyPath, formatOrigin, showConfigValue, showKeyPath } from "./show-config.ts";

interface ConfigValue extends Assignment {
  readonly tightens: boolean;
  readonly overridden: readonly { readonly origin: Origin; readonly value: unknown }[];
}

/** By canonical dotted path. */
export type ConfigValues = Map<string, ConfigValue>;

export function defaultValues(): ConfigValues {
  const values: ConfigValues = new Map();
  for (const field of CONFIG_FIELDS) {
    if (field.default === undefined) continue;
    const segments = field.path.split(".");
    setValue(values, { field, segments, value: field.default, origin: { layer: "default" } });
  }
  return values;
}

/** A user's own layer: it replaces or, with `append`, adds to lists. */
export function applyLayer(values: ConfigValues, assignments: readonly Assignment[], append = false): void {
  for (const assignment of assignments) {
    const lower = values.get(formatKeyPath(assignment.segments))?.value;
    const both = append && Array.isArray(lower) && Array.isArray(assignment.value);
    setValue(
      values,
      both ? { ...assignment, value: [...new Set([...lower, ...assignment.value])] } : assignment,
    );
  }
}

interface ProjectOutcome {
  /** One for each key that was fully or partly ignored. */
  readonly diagnostics: readonly Diagnostic[];
  /** What a grant would enable, as `key = value`. */
  readonly ungranted: readonly string[];
}

/** A project file. */
export function applyProject(
  values: ConfigValues,
  assignments: readonly Assignment[],
  granted: boolean,
  userFile: string,
): ProjectOutcome {
  const ungranted: string[] = [];
  const diagnostics = assignments.flatMap((assignment) => {
    if (assignment.field.project === "never") return [reportUserOnly(assignment, userFile)];
    if (granted) {
      setValue(values, assignment);
      return [];
    }
    const refusal = tightenByProject(values, assignment);
    if (refusal === undefined) return [];
    ungranted.push(showAssignment(assignment));
    return [reportNotGranted(assignment, refusal, userFile)];
  });
  return { diagnostics, ungranted };
}

/** What was refused of an ungranted assignment, as the end of a sentence; `undefined` if nothing was. */
function tightenByProject(values: ConfigValues, assignment: Assignment): string | undefined {
  const { field, value } = assignment;
  const { tightening } = field;
  if (field.project !== "tighten" || !tightening) return "only a granted file may set this key";
  const lower = lowerValue(values, assignment);
  if (isDeepStrictEqual(lower, value)) return undefined;
  const refusal = `without a grant this key ${tightening.how}`;
  if (!tightening.canTighten(value)) return refusal;
  const combined = tightening.combine(lower, value, "lower");
  if (!isDeepStrictEqual(combined, lower)) setValue(values, { ...assignment, value: combined }, true);
  return tightening.adds || isDeepStrictEqual(combined, value) ? undefined : refusal;
}

/**
 * The policy: nothing overrides it, and it never loosens. The result has a diagnostic for what cannot tighten, and one
 * for each requested path that the policy removes.
 */
export function applyPolicy(values: ConfigValues, assignments: readonly Assignment[]): readonly Diagnostic[] {
  return assignments.flatMap((assignment) => {
    const { tightening } = assignment.field;
    if (!tightening?.canTighten(assignment.value)) return [reportCannotTighten(assignment)];
    const path = formatKeyPath(assignment.segments);
    const held = [...values.values()].filter(
      ({ field }) => field.inherits === path || field.heldBy?.includes(path),
    );
    const dropped = new Set<string>();
    for (const target of [assignment, ...held]) {
      const lower = lowerValue(values, target);
      for (const item of tightening.dropped?.(lower, assignment.value) ?? []) dropped.add(item);
      const combined = tightening.combine(lower, assignment.value, "limit");
      if (isDeepStrictEqual(combined, lower)) continue;
      const { field, segments } = target;
      setValue(values, { field, segments, value: combined, origin: assignment.origin }, true);
    }
    return [...dropped].map((item) => reportDropped(assignment, item));
  });
}

function setValue(values: ConfigValues, assignment: Assignment, tightens = false): void {
  const path = formatKeyPath(assignment.segments);
  const lower = values.get(path);
  const overridden = lower ? [{ origin: lower.origin, value: lower.value }, ...lower.overridden] : [];
  values.set(path, { ...assignment, tightens, overridden });
}

/** The value so far: the key's own, or that of the key it inherits from. */
function lowerValue(values: ConfigValues, { field, segments }: FoundField): unknown {
  const own = values.get(formatKeyPath(segments));
  return own ? own.value : field.inherits && values.get(field.inherits)?.value;
}

function reportUserOnly(assignment: Assignment, userFile: string): Diagnostic {
  const key = showKeyPath(assignment.segments);
  return reportAt(assignment, {
    code: "config.user-only",
    severity: "warning",
    message: `\`${key}\` is ignored here: keys, secrets, MCP servers and private hosts are read only from the user file.`,
    hint: `Move it to \`${userFile}\` and remove it here, where others may read it.`,
  });
}

function reportNotGranted(assignment: Assignment, refusal: string, userFile: string): Diagnostic {
  return reportAt(assignment, {
    code: "config.not-granted",
    severity: "warning",
    message: `${show(assignment)} is ignored because this project file is not granted: ${refusal}.`,
    hint: forReader({
      command: `Read the file, then run \`metier trust\` in its folder; or set the key in \`${userFile}\`.`,
      program: `Read the file, then set the key in \`${userFile}\` or in the \`config\` option.`,
    }),
  });
}

function reportCannotTighten(assignment: Assignment): Diagnostic {
  const { tightening } = assignment.field;
  return reportAt(assignment, {
    code: "config.policy-cannot-tighten",
    severity: "error",
    message: `${show(assignment)} is not stricter, so a policy cannot set it.`,
    hint: tightening
      ? `In a policy this key ${tightening.how}.`
      : `Remove it. A policy may set: ${policyKeys().join(", ")}.`,
  });
}

function reportDropped(assignment: Assignment, path: string): Diagnostic {
  return {
    code: "config.policy-drops-path",
    severity: "warning",
    message: `\`${path}\` is not used: the ${formatOrigin(assignment.origin)} has ${show(assignment)}, and the path is in none of these.`,
    path,
    hint: "Move it into one of them, or ask the administrator of this machine.",
  };
}

function show(assignment: Assignment): string {
  return `\`${showAssignment(assignment)}\``;
}

function showAssignment({ field, segments, value }: Assignment): string {
  return `${showKeyPath(segments)} = ${showConfigValue(field, value)}`;
}

function policyKeys(): readonly string[] {
  return CONFIG_FIELDS.filter(({ tightening }) => tightening).map(({ path }: ConfigField) => `\`${path}\``);
}

function reportAt({ origin }: Assignment, parts: Omit<Diagnostic, "path">): Diagnostic {
  return { ...parts, path: origin.where ?? "", line: origin.line };
}
