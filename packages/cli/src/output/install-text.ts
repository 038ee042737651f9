/** The result of an installation, for people. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { safeLine } from "@metier/base/text";
import { type InstalledSkill, type InstallReport, isFailure } from "@metier/install";
import type { Catalog } from "@metier/skills";
import type { LockOwner } from "@metier/skills/trust";
import { diagnosticText } from "./diagnostics.ts";
import { findingText } from "./review-text.ts";
import { count, type Style } from "./style.ts";

interface InstallWish {
  readonly source?: string | undefined;
  readonly dryRun: boolean;
}

export function installedText(
  { installed, skipped }: InstallReport,
  wish: InstallWish,
  catalog: Catalog,
  style: Style,
): string {
  const done =
    installed.length > EACH_UP_TO
      ? [manyText(installed, wish, catalog, style)]
      : installed.map((skill) =>
          wish.dryRun ? plannedText(skill) : placedText(skill, wish, catalog, style),
        );
  const kept = skipped.filter((skill) => !isFailure(skill));
  const left = kept
    .slice(0, MOST_SKIPPED)
    .map(({ name, lock, reason }) => `${style.dim("·")} ${safeLine(`${name}${ofLock(lock)}: ${reason}`)}`);
  const more = kept.length - left.length;
  const lines = [
    ...done,
    ...left,
    ...(more > 0 ? [`${style.dim("·")} ${count(more, "more skill")} skipped`] : []),
  ];
  if (lines.length > 0 || skipped.length > 0) return lines.join("\n");
  return wish.source === undefined
    ? "No lock file lists any skills. `metier install <source>` installs skills."
    : "No skills chosen.";
}

/** Above this number, skills are reported together. */
const EACH_UP_TO = 20;
const MOST_NAMED = 24;
const MOST_SKIPPED = 20;
const MOST_UNUSABLE = 5;

function manyText(
  installed: readonly InstalledSkill[],
  { source, dryRun }: InstallWish,
  catalog: Catalog,
  style: Style,
): string {
  const what = dryRun ? "would be installed" : source === undefined ? "are restored" : "are installed";
  const skills = dryRun ? [] : installed.flatMap(({ name }) => catalog.get(`installed:${name}`) ?? []);
  const untrusted = skills.filter(({ trust }) => trust.level === "untrusted").length;
  const unusable = skills.filter(({ status }) => status !== "enabled");
  const unnamed = unusable.length - MOST_UNUSABLE;
  const notes = [
    namesText(installed.map(({ name }) => name)),
    ...(untrusted > 0
      ? [`untrusted: ${count(untrusted, "skill")}; trust one with \`metier trust <skill>\``]
      : []),
    ...unusable
      .slice(0, MOST_UNUSABLE)
      .map(({ name, status, reason }) => `${name} is ${status}: ${reason ?? ""}`),
    ...(unnamed > 0 ? [`${count(unnamed, "more skill")} can't be used; \`metier list\` shows why`] : []),
  ];
  const title = `${count(installed.length, "skill")} ${what}`;
  return dryRun
    ? [`+ ${title}`, ...notes.map((note) => `    ${note}`)].join("\n")
    : doneText(title, notes, style);
}

/** The first of many names, and a count of the rest. */
export function namesText(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).map(safeLine).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

function plannedText({ name, lock, path }: InstalledSkill): string {
  return safeLine(`+ ${name}${ofLock(lock)} would be installed at ${path}`);
}

/** Added to a name if both locks are involved. */
export function ofLock(lock: LockOwner | undefined): string {
  if (lock === undefined) return "";
  return lock === "project" ? " (the project's lock)" : " (your lock)";
}

function placedText(
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
  return doneText(safeLine(`${name}${ofLock(lock)} is ${what} at ${path}`), notes, style);
}

/** What was done, with notes below it. `what` is already safe. */
export function doneText(what: string, notes: readonly string[], style: Style): string {
  return [`${style.green("✓")} ${what}`, ...notes.map((note) => `    ${style.dim(safeLine(note))}`)].join(
    "\n",
  );
}

/** What was not done, and what to do. */
export function failedText(what: string, hint: string | undefined, style: Style): readonly string[] {
  return [`${style.red("✗")} ${safeLine(what)}`, ...hintLines(hint, style)];
}

export function hintLines(hint: string | undefined, { dim }: Style): readonly string[] {
  return hint === undefined ? [] : [`    ${dim(`→ ${safeLine(hint)}`)}`];
}

/** All but notes. */
export function worthText(diagnostics: readonly Diagnostic[], style: Style): readonly string[] {
  return diagnostics
    .filter(({ severity }) => severity !== "info")
    .map((entry) => diagnosticText(entry, style));
}

export function failuresText({ skipped, findings, diagnostics }: InstallReport, style: Style): string {
  const failures = skipped.filter(isFailure);
  const declined = failures.filter(({ code }) => code === "install.declined");
  const isMany = declined.length > EACH_UP_TO;
  return [
    ...(isMany ? [`${style.red("✗")} ${count(declined.length, "skill")}: skipped`] : []),
    ...failures
      .filter(({ code }) => !isMany || code !== "install.declined")
      .flatMap(({ name, lock, code, reason, hint }) => {
        // For the others, the findings were shown before; blocked skills aren't asked about.
        const seen = code === "install.blocked" ? findings.filter(({ skill }) => skill === name) : [];
        const [first = "", ...rest] = failedText(`${name}${ofLock(lock)}: ${reason}`, hint, style);
        return [first, ...seen.map((finding) => `    ${findingText(finding, style)}`), ...rest];
      }),
    ...worthText(diagnostics, style),
  ].join("\n");
}
