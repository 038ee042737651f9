/** What an environment is made from: the packages that a skill's folder locks, read and checked. Fetches nothing. */
import { readFileSync } from "node:fs";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../../foundation/diagnostic-codes.ts";
import { type ContainedFault, openContained, withContained } from "../../host/open-contained.ts";

export type EnvironmentKind = "node" | "python";

export interface LockedPackage {
  readonly name: string;
  /** Where the lock file says it is fetched; without one, wherever the registry keeps it. */
  readonly url?: string;
}

export interface EnvironmentPlan {
  readonly kind: EnvironmentKind;
  /** The name of the file that locks the packages. */
  readonly lock: string;
  readonly packages: readonly LockedPackage[];
  /** All that the installer gets of the skill: name → content. */
  readonly files: Readonly<Record<string, string>>;
}

/** `undefined`: the skill wants no packages of this kind. */
export type PlanReading = EnvironmentPlan | Diagnostic | undefined;

export function isPlan(reading: PlanReading): reading is EnvironmentPlan {
  return reading !== undefined && "files" in reading;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** The text of a file of the skill; `undefined` when it is not there. */
export function readSkillFile(folder: string, name: string): string | ContainedFault | undefined {
  const read = withContained(
    openContained(folder, name),
    ({ descriptor, stats }): string | ContainedFault => {
      if (stats.size <= MAX_BYTES) return readFileSync(descriptor, "utf8");
      const message = `\`${name}\` has ${stats.size} bytes; at most ${MAX_BYTES} are read.`;
      return { ok: false, reason: "too-large", message };
    },
  );
  return typeof read !== "string" && read.reason === "missing" ? undefined : read;
}

/** Why the packages of a skill are not installed. */
export function environmentFault(
  code: Extract<DiagnosticCode, `environment.${string}`>,
  path: string,
  message: string,
  hint: string,
  line?: number,
): Diagnostic {
  return { code, severity: "warning", path, message, hint, ...(line !== undefined && { line }) };
}
