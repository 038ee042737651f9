/** What came of an installation: what is installed and whether it is trusted, what is not and why. */
import type { Catalog } from "../../catalog/catalog.ts";
import { type InstalledSkill, type InstallReport, isFailure } from "../../install/install-request.ts";
import type { LockOwner } from "../../lock/lock-entry.ts";
import { diagnosticText } from "./diagnostics-text.ts";
import { findingText } from "./review-text.ts";
import { type Style, safeLine } from "./style.ts";

export interface InstallWish {
  readonly source?: string | undefined;
  readonly dryRun: boolean;
}

export function installedText(
  { installed, skipped }: InstallReport,
  wish: InstallWish,
  catalog: Catalog,
  style: Style,
): string {
  const done = installed.map((skill) =>
    wish.dryRun ? plannedText(skill) : doneText(skill, wish, catalog, style),
  );
  const left = skipped
    .filter((skill) => !isFailure(skill))
    .map(({ name, lock, reason }) => `${style.dim("·")} ${safeLine(`${name}${ofLock(lock)}: ${reason}`)}`);
  const lines = [...done, ...left];
  if (lines.length > 0 || skipped.length > 0) return lines.join("\n");
  return wish.source === undefined
    ? "No lock lists anything; `metier install <source>` installs skills."
    : "Nothing was chosen.";
}

function plannedText({ name, lock, path }: InstalledSkill): string {
  return safeLine(`+ ${name}${ofLock(lock)} would be installed at ${path}`);
}

/** Behind a name, where two locks are looked at. */
export function ofLock(lock: LockOwner | undefined): string {
  if (lock === undefined) return "";
  return lock === "project" ? " (the project's lock)" : " (your lock)";
}

function doneText(
  { name, lock, path, placed = [] }: InstalledSkill,
  { source }: InstallWish,
  catalog: Catalog,
  style: Style,
): string {
  const skill = catalog.get(`installed:${name}`);
  const what = source === undefined ? "restored" : "installed";
  const notes = [
    ...placed.map((place) => `also at ${place}`),
    ...(skill?.trust.level === "untrusted" ? [`untrusted: ${skill.trust.reason}`] : []),
    ...(skill && skill.status !== "enabled" ? [`${skill.status}: ${skill.reason ?? ""}`] : []),
  ];
  const first = `${style.green("✓")} ${safeLine(`${name}${ofLock(lock)} is ${what} at ${path}`)}`;
  return [first, ...notes.map((note) => `    ${style.dim(safeLine(note))}`)].join("\n");
}

export function failuresText({ skipped, findings, diagnostics }: InstallReport, style: Style): string {
  return [
    ...skipped.filter(isFailure).map(({ name, lock, code, reason, hint }) => {
      // Of the others the findings were shown before; what is blocked is not asked about.
      const seen = code === "install.blocked" ? findings.filter(({ skill }) => skill === name) : [];
      return [
        `${style.red("✗")} ${safeLine(`${name}${ofLock(lock)}: ${reason}`)}`,
        ...seen.map((finding) => `    ${findingText(finding, style)}`),
        ...(hint === undefined ? [] : [`    ${style.dim(`→ ${safeLine(hint)}`)}`]),
      ].join("\n");
    }),
    ...diagnostics
      .filter(({ severity }) => severity !== "info")
      .map((diagnostic) => diagnosticText(diagnostic, style)),
  ].join("\n");
}
