/**
 * Reviewed and accepted findings in a committed JSON file. An entry covers one finding of one skill, even if its line
 * moves. It never covers another skill.
 */
import { dirname, relative, sep } from "node:path";
import { readBounded } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import { isInside } from "@metier/base/places";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import type { Finding } from "./scanned-skill.ts";

export interface AcceptedFinding {
  /** The skill's name. */
  readonly skill: string;
  /** Its folder, relative to the baseline's folder; absent for skills that are installed or elsewhere. */
  readonly folder?: string;
  readonly id: string;
  readonly path: string;
  readonly fingerprint: string;
}

export interface Baseline {
  /** The file it was read from, absolute. */
  readonly file: string;
  readonly accepted: readonly AcceptedFinding[];
}

/** The skill that findings belong to. */
export interface AcceptedPlace {
  readonly name: string;
  readonly directory: string;
  /** Identified by name, because every version has another folder. */
  readonly isInstalled?: boolean;
}

/** A scanned skill. */
export interface ScannedPlace extends AcceptedPlace {
  readonly findings: readonly Finding[];
}

const VERSION = 1;

export function readBaseline(file: string, text: string): Result<Baseline> {
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch (error) {
    return unreadable(file, `is not valid JSON: ${(error as Error).message}.`);
  }
  const { version, accepted } = (written ?? {}) as {
    readonly version?: unknown;
    readonly accepted?: unknown;
  };
  if (version !== VERSION)
    return unreadable(file, `has version ${JSON.stringify(version)}; only version ${VERSION} is supported.`);
  if (!Array.isArray(accepted) || !accepted.every(isAccepted)) {
    return unreadable(file, "has no `accepted` list of `{ skill, id, path, fingerprint }`.");
  }
  return done({ file, accepted });
}

function unreadable(file: string, what: string): Refused {
  const hint = "Create one with `metier scan --write-baseline FILE`.";
  return refused({ message: `The baseline \`${file}\` ${what}`, hint });
}

function isAccepted(entry: unknown): entry is AcceptedFinding {
  if (typeof entry !== "object" || entry === null) return false;
  const {
    skill,
    folder = "",
    id,
    path,
    fingerprint,
  } = entry as Partial<Record<keyof AcceptedFinding, unknown>>;
  return [skill, folder, id, path, fingerprint].every((value) => typeof value === "string");
}

interface AppliedBaseline<T extends ScannedPlace> {
  /** The same skills without accepted findings. */
  readonly skills: readonly T[];
  readonly accepted: number;
  /** Entries of scanned skills that no longer match anything. */
  readonly stale: readonly AcceptedFinding[];
}

export function applyBaseline<T extends ScannedPlace>(
  baseline: Baseline,
  skills: readonly T[],
): AppliedBaseline<T> {
  const used = new Set<AcceptedFinding>();
  let accepted = 0;
  const remaining = skills.map((skill) => {
    const own = baseline.accepted.filter((entry) => isOf(entry, skill, baseline.file));
    const findings = skill.findings.filter((finding) => {
      const entries = own.filter(
        ({ fingerprint, id }) => fingerprint === finding.fingerprint && id === finding.id,
      );
      for (const entry of entries) used.add(entry);
      return entries.length === 0;
    });
    accepted += skill.findings.length - findings.length;
    return { ...skill, findings };
  });
  const stale = baseline.accepted.filter(
    (entry) => !used.has(entry) && skills.some((skill) => isOf(entry, skill, baseline.file)),
  );
  return { skills: remaining, accepted, stale };
}

/** Leaves out what any baseline accepts. */
export function applyBaselines<T extends ScannedPlace>(
  baselines: readonly Baseline[],
  skills: readonly T[],
): AppliedBaseline<T> {
  const none: AppliedBaseline<T> = { skills, accepted: 0, stale: [] };
  return baselines.reduce((before, baseline) => {
    const { skills: left, accepted, stale } = applyBaseline(baseline, before.skills);
    return { skills: left, accepted: before.accepted + accepted, stale: [...before.stale, ...stale] };
  }, none);
}

function isOf(entry: AcceptedFinding, place: AcceptedPlace, file: string): boolean {
  return entry.skill === place.name && entry.folder === folderOf(place, file);
}

/** The same findings give the same bytes. What an extended baseline accepts stays accepted. */
export function renderBaseline(file: string, skills: readonly ScannedPlace[], before?: Baseline): string {
  const found = skills.flatMap((skill) => {
    const folder = folderOf(skill, file);
    return skill.findings.map(({ id, path, fingerprint }) =>
      presentFields({ skill: skill.name, folder, id, path, fingerprint }),
    );
  });
  const entries = [...(before?.accepted ?? []).map(inOrder), ...found];
  const unique = new Map(entries.map((entry) => [JSON.stringify(entry), entry]));
  const accepted = [...unique].toSorted(([a], [b]) => compareText(a, b)).map(([, entry]) => entry);
  return `${JSON.stringify({ version: VERSION, accepted }, undefined, 2)}\n`;
}

/** A hand-written entry may have its keys in any order, or extra ones. */
function inOrder({ skill, folder, id, path, fingerprint }: AcceptedFinding): AcceptedFinding {
  return presentFields({ skill, folder, id, path, fingerprint });
}

function folderOf({ directory, isInstalled }: AcceptedPlace, file: string): string | undefined {
  const root = dirname(file);
  if (isInstalled || !isInside(directory, root)) return undefined;
  return relative(root, directory).split(sep).join("/") || ".";
}

const MAX_BYTES = 16 * 1024 * 1024;

/** `file` is absolute. */
export function loadBaseline(file: string): Result<Baseline> {
  const read = readBounded(file, MAX_BYTES);
  return read.ok ? readBaseline(file, read.text) : unreadable(file, `cannot be read: ${read.message}`);
}
