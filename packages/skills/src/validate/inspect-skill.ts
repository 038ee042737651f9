/**
 * Everything `validate` says about a skill: its rules, notes for its author, and whether its links and toolsets are
 * files in its folder. Reads the disk, so only `validate` uses it.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { compareDiagnostics, type Diagnostic, hasErrors } from "@metier/base/diagnostic";
import { isInside, realPathOr } from "@metier/base/places";
import { findModule } from "@metier/base/programs";
import { showNames, showValue } from "@metier/base/text";
import { dialectsOf } from "../clients/clients.ts";
import { findLinks } from "../parse/body.ts";
import { parseToolsetEntry } from "../skill/field-grammars.ts";
import { isSpecField, type SkillManifest } from "../skill/manifest.ts";
import type { CheckedSkill, ParsedSkill } from "../skill/skill.ts";
import { type GivenField, readFields } from "./build-manifest.ts";
import { checkMentions } from "./check-mentions.ts";
import { createReport, type Profile } from "./profiles.ts";
import { measureBody } from "./rules/spec-rules.ts";
import { validateSkill } from "./validate-skill.ts";

/** With a counter, the size of the body is measured instead of estimated. */
export function inspectSkill(
  parsed: ParsedSkill,
  profile: Profile,
  countTokens?: (text: string) => number,
): CheckedSkill {
  const checked = validateSkill(parsed, profile);
  const diagnostics = [
    ...(countTokens ? measureBody(checked.diagnostics, parsed, profile, countTokens) : checked.diagnostics),
    ...noteFields(parsed, profile),
    ...checkLinks(parsed, profile),
    ...checkMentions(parsed, profile),
    ...checkToolsets(parsed, checked.manifest, profile),
  ];
  diagnostics.sort(compareDiagnostics);
  return { ...checked, diagnostics, valid: !hasErrors(diagnostics) };
}

/** Which fields other clients do not know, and which this version does not use: at most one note of each kind. */
export function noteFields(parsed: ParsedSkill, profile: Profile): readonly Diagnostic[] {
  const notes: Diagnostic[] = [];
  const report = createReport(parsed, profile, notes);
  const { known } = readFields(parsed, () => undefined);
  const given = known.filter(({ value }) => value !== null);
  const foreign = given.filter(({ field }) => !isSpecField(field) && field.belongsTo === undefined);
  if (foreign.length > 0) {
    report("field.not-portable", `Not every client knows ${foreign.map(showWithClients).join(", ")}.`, {
      key: foreign[0]?.key ?? "",
      hint: "Other clients ignore them, so the skill must work without them.",
    });
  }
  const idle = given.filter(({ field }) => field.honouredBy === undefined);
  if (idle.length > 0) {
    const message = `This version reads but does not use ${showNames(idle.map(({ key }) => key))}.`;
    report("field.not-honoured", message, { key: idle[0]?.key ?? "" });
  }
  return notes;
}

function showWithClients({ field, key }: GivenField): string {
  const names = dialectsOf(field).map(({ name }) => name);
  return `\`${key}\` (${names.join(", ")})`;
}

const MAX_LINKS = 500;

export function checkLinks(parsed: ParsedSkill, profile: Profile): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = createReport(parsed, profile, found);
  const { directory } = parsed.candidate;
  // A skill defined in code has no folder for its links.
  const links = directory === "" ? [] : findLinks(parsed.body, MAX_LINKS + 1);
  for (const link of links.slice(0, MAX_LINKS)) {
    const line = parsed.bodyLine + link.line - 1;
    const target = resolve(directory, link.path);
    if (!isInside(target, directory)) {
      report("reference.outside", `The link ${showValue(link.path)} points outside the skill's folder.`, {
        line,
        hint: "Copy the file into the folder: a skill is installed and read on its own.",
      });
    } else if (!existsSync(target)) {
      report("reference.dangling", `The link ${showValue(link.path)} is broken.`, {
        line,
        hint: "Add the file, fix the path, or remove the link; paths start at the skill's folder.",
      });
    }
  }
  if (links.length > MAX_LINKS) {
    const message = `The body has more than ${MAX_LINKS} links; only the first ${MAX_LINKS} were checked.`;
    report("reference.limit", message);
  }
  return found;
}

export function checkToolsets(
  parsed: ParsedSkill,
  manifest: Pick<SkillManifest, "toolsets"> | undefined,
  profile: Profile,
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = createReport(parsed, profile, found);
  const { form, directory } = parsed.candidate;
  for (const toolset of manifest?.toolsets ?? []) {
    const entry = parseToolsetEntry(toolset);
    if (entry === undefined) continue; // Its rule has already reported it.
    const module =
      form === "directory" && directory !== ""
        ? findModule(realPathOr(directory), entry.module)
        : { ok: false as const, message: "only a skill with its own folder can have toolsets." };
    if (module.ok) continue;
    report("toolset.missing", `The toolset ${showValue(toolset)} cannot be loaded: ${module.message}`, {
      key: "toolsets",
      hint: "Write the module's path in the skill's folder, a colon and the name of its export.",
    });
  }
  return found;
}
