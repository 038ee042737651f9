/** Installed skills for people: what is outdated, what an update did, and what `metier verify` found, file by file. */
import { safeLine } from "@metier/base/text";
import type {
  NotUpdated,
  OutdatedSkill,
  UpdatedSkill,
  UpdateResult,
  VerifiedFolder,
  VerifiedGrant,
  VerifiedSkill,
  VerifyReport,
  VersionMark,
} from "@metier/install";
import type { FileChange } from "@metier/skills/trust";
import { doneText, failedText, hintLines, namesText, ofLock, worthText } from "./install-text.ts";
import { alignColumns, count, cutText, type Style } from "./style.ts";

const WIDTH = 110;

/** A commit or digest shortened, a version in full. */
export function versionText({ version, resolved }: VersionMark): string {
  const [first = ""] = resolved.split(" ");
  const short = /^[0-9a-f]{40,}$/.test(first)
    ? first.slice(0, 10)
    : first.replace(/^(sha256:.{10}).*/, "$1…");
  return safeLine(version === undefined || first === version ? short : `${version} (${short})`);
}

const FINE: readonly NotUpdated["code"][] = ["current", "pinned", "local", "kept"];

/** Above this number, skills are reported together. */
const EACH_UP_TO = 20;

export function updatedText({ updated, skipped }: UpdateResult, isDry: boolean, style: Style): string {
  const lines = [
    ...(updated.length > EACH_UP_TO
      ? [manyUpdatedText(updated, isDry, style)]
      : updated.map((skill) => (isDry ? plannedText(skill) : takenText(skill, style)))),
    ...FINE.flatMap((code) => fineLines(code, skipped, style)),
  ];
  return lines.length > 0 || skipped.length > 0 ? lines.join("\n") : "No skills are installed here.";
}

function fineLines(
  code: NotUpdated["code"],
  skipped: readonly NotUpdated[],
  { dim }: Style,
): readonly string[] {
  const members = skipped.filter((skill) => skill.code === code);
  const word = WORDS[code] ?? code;
  if (members.length > EACH_UP_TO) return [`${dim("·")} ${members.length} skills are ${word}.`];
  return members.map(({ name, reason }) => `${dim("·")} ${safeLine(`${name} is ${word}. ${reason}`)}`);
}

const WORDS: Readonly<Partial<Record<NotUpdated["code"], string>>> = {
  current: "up to date",
  local: "linked",
};

function manyUpdatedText(updated: readonly UpdatedSkill[], isDry: boolean, style: Style): string {
  const names = namesText(updated.map(({ name }) => name));
  if (isDry) return `+ ${updated.length} skills would be updated\n    ${names}`;
  const untrusted = updated.filter(({ losesTrust }) => losesTrust).length;
  const notes = [
    names,
    ...(untrusted > 0
      ? [`now untrusted: ${count(untrusted, "skill")}; trust one with \`metier trust <skill>\``]
      : []),
    ...updated.flatMap(({ kept }) => kept).map((folder) => `your edits are kept in ${folder}`),
    "go back with `metier rollback <skill>`",
  ];
  return doneText(`${updated.length} skills are updated`, notes, style);
}

function plannedText({ name, from, to }: UpdatedSkill): string {
  return `+ ${safeLine(name)} would be updated, ${versionText(from)} → ${versionText(to)}`;
}

function takenText({ name, from, to, losesTrust, kept }: UpdatedSkill, style: Style): string {
  const notes = [
    ...(losesTrust ? [`now untrusted: review it, then run \`metier trust ${name}\``] : []),
    ...kept.map((folder) => `your edits are kept in ${folder}`),
    `go back with \`metier rollback ${name}\``,
  ];
  return doneText(`${safeLine(name)} is updated, ${versionText(from)} → ${versionText(to)}`, notes, style);
}

export function notUpdatedText({ skipped, diagnostics }: UpdateResult, style: Style): string {
  return [
    ...skipped
      .filter(({ code }) => !FINE.includes(code))
      .flatMap(({ name, reason, hint }) => failedText(`${name}: ${reason}`, hint, style)),
    ...worthText(diagnostics, style),
  ].join("\n");
}

const HEADS = ["skill", "status", "installed", "available"];

/** As a table; for many skills, only those that need action. */
export function outdatedText(skills: readonly OutdatedSkill[], style: Style): string {
  if (skills.length === 0) return "No skills are installed here.";
  const isLong = skills.length > EACH_UP_TO;
  const listed = isLong ? skills.filter(({ status }) => COLOURS[status] !== undefined) : skills;
  const others = skills.length - listed.length;
  return [
    ...(listed.length > 0 ? tableLines(listed, style) : []),
    ...(others > 0
      ? [`${listed.length > 0 ? "The other " : ""}${count(others, "skill")}: nothing to do.`]
      : []),
  ].join("\n");
}

function tableLines(skills: readonly OutdatedSkill[], style: Style): readonly string[] {
  const rows = skills.map(({ name, status, installed, available }) => [
    safeLine(name),
    status,
    versionText(installed),
    available ? versionText(available) : "",
  ]);
  const [head = "", ...lines] = alignColumns([HEADS, ...rows]).map((cells) => cells.join("  ").trimEnd());
  return [
    style.dim(head),
    ...skills.flatMap((skill, index) => {
      const line = lines[index] ?? "";
      const colour = COLOURS[skill.status];
      if (colour === undefined) return [line];
      return [style[colour](line), `    ${cutText(skill.reason, WIDTH)}`, ...hintLines(skill.hint, style)];
    }),
  ];
}

/** Whether there is something to do. */
const COLOURS: Readonly<Partial<Record<OutdatedSkill["status"], "yellow" | "red">>> = {
  outdated: "yellow",
  missing: "red",
  failed: "red",
};

export function verifiedText({ ok, skills, grants }: VerifyReport, style: Style): string {
  const broken = grants.filter(({ state }) => state === "changed");
  if (skills.length === 0 && broken.length === 0) return "No skills are installed here.";
  const summary = ok
    ? `${count(skills.length, "skill")}, all as recorded.`
    : "Some skills differ from the record.";
  const isLong = skills.length > EACH_UP_TO;
  const listed = isLong ? skills.filter((skill) => !skill.ok) : skills;
  const fine = skills.length - listed.length;
  return [
    ...listed.map((skill) => skillText(skill, style)),
    ...(fine > 0 && !ok ? [`${style.green("✓")} ${count(fine, "skill")} as recorded`] : []),
    ...broken.map((grant) => grantText(grant, style)),
    summary,
  ].join("\n");
}

function skillText(skill: VerifiedSkill, style: Style): string {
  const { name, lock, copies, changes, note } = skill;
  const isWorthSaying = changes.length > 0 || note !== undefined;
  return [
    `${skill.ok ? style.green("✓") : style.red("✗")} ${safeLine(`${name}${ofLock(lock)}`)}${isWorthSaying ? `  ${style.dim(safeLine(skill.folder))}` : ""}`,
    ...folderLines(skill, "    "),
    ...copies
      .filter((copy) => !copy.ok)
      .flatMap((copy) => [
        `    ${style.red("✗")} ${safeLine(`${copy.client}: ${copy.folder}`)}`,
        ...folderLines(copy, "      "),
      ]),
  ].join("\n");
}

const MOST_CHANGES = 50;

function folderLines({ changes, note }: VerifiedFolder, indent: string): readonly string[] {
  const more = changes.length - MOST_CHANGES;
  return [
    ...(note === undefined ? [] : [`${indent}${safeLine(note)}`]),
    ...changes.slice(0, MOST_CHANGES).map((change) => `${indent}${changeText(change)}`),
    ...(more > 0 ? [`${indent}and ${more} more`] : []),
  ];
}

const CHANGE_WORDS: Readonly<Record<FileChange["change"], string>> = {
  added: "added",
  removed: "removed",
  changed: "changed",
  mode: "executable bit",
};

function changeText({ path, change }: FileChange): string {
  return `${CHANGE_WORDS[change].padEnd(14)}  ${safeLine(path)}`;
}

function grantText({ name, location, changes, note }: VerifiedGrant, style: Style): string {
  return [
    `${style.red("✗")} ${safeLine(`${name} is no longer what you trusted, at ${location}`)}`,
    ...(note === undefined ? [] : [`    ${safeLine(note)}`]),
    ...changes.slice(0, MOST_CHANGES).map((change) => `    ${changeText(change)}`),
  ].join("\n");
}
