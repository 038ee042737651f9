/** `metier verify`: what is on disk against the locks and against trust, file by file. */
import { EXIT } from "../../foundation/exit-codes.ts";
import type { VerifiedFolder, VerifiedSkill, VerifyReport } from "../../install/verify.ts";
import type { VerifiedGrant } from "../../install/verify-grants.ts";
import type { FileChange } from "../../trust/content-identity.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, out, outJson } from "../context.ts";
import { toError } from "../install/to-error.ts";
import { openMetier } from "../open-metier.ts";
import { ofLock } from "../output/install-text.ts";
import { count, type Style, safeLine, styleFor } from "../output/style.ts";

export async function run(
  context: CliContext,
  flags: CommonFlags & { readonly project?: boolean },
  ...skills: readonly string[]
): Promise<void> {
  const { project, json } = flags;
  const metier = await openMetier(context, flags, { autoDiscover: false });
  const report = await metier.verify({ skills, ...(project !== undefined && { project }) });
  if (report.fault) throw toError(report.fault);
  if (json) outJson(context, report);
  else out(context, reportText(report, styleFor(context.io.color)));
  if (!report.ok) endWith(context, EXIT.no);
}

function reportText({ ok, skills, grants }: VerifyReport, style: Style): string {
  const broken = grants.filter(({ state }) => state === "changed");
  if (skills.length === 0 && broken.length === 0) return "No skill is installed here.";
  const summary = ok
    ? `${count(skills.length, "skill")}, all as recorded.`
    : "Not everything is as recorded.";
  return [
    ...skills.map((skill) => skillText(skill, style)),
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

const WORDS: Readonly<Record<FileChange["change"], string>> = {
  added: "added",
  removed: "removed",
  changed: "changed",
  mode: "executable bit",
};

function changeText({ path, change }: FileChange): string {
  return `${WORDS[change].padEnd(14)}  ${safeLine(path)}`;
}

function grantText({ name, location, changes, note }: VerifiedGrant, style: Style): string {
  return [
    `${style.red("✗")} ${safeLine(`${name} is no longer what you trusted, at ${location}`)}`,
    ...(note === undefined ? [] : [`    ${safeLine(note)}`]),
    ...changes.slice(0, MOST_CHANGES).map((change) => `    ${changeText(change)}`),
  ].join("\n");
}
