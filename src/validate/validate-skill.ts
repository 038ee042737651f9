/** The validate stage: a parsed skill becomes a manifest, or reasons why not. Pure; reports all, not the first. */
import { compareDiagnostics, type Diagnostic, hasErrors } from "../foundation/diagnostic.ts";
import { countLineEnds } from "../parse/text-position.ts";
import type { BodyFacts, CheckedSkill, ParsedSkill } from "../skill/skill.ts";
import { buildManifest, type ManifestDraft } from "./build-manifest.ts";
import { describeBody } from "./describe-body.ts";
import { type Profile, severityIn } from "./profiles.ts";
import { readFields } from "./read-fields.ts";
import { createReport, type Report } from "./report.ts";
import { applyFieldRules, applyFileRules } from "./rules.ts";

export function validateSkill(parsed: ParsedSkill, profile: Profile): CheckedSkill {
  const diagnostics = regrade(parsed.diagnostics, profile);
  const report = createReport(parsed, profile, diagnostics);
  const body = measureBody(parsed.body);
  const frontmatter = parsed.frontmatter ?? (profile === "lenient" ? {} : undefined);
  const fields = readFields(parsed, report);
  const draft = buildManifest(fields, report, parsed);
  const subject = { parsed, fields, draft, body, profile };
  applyFileRules(subject, report);
  if (frontmatter !== undefined) applyFieldRules(subject, report);
  if (profile === "lenient") describeFromBody(draft, parsed, report);

  const valid = !hasErrors(diagnostics);
  const loads = draft.description !== "" && (valid || profile !== "strict");
  if (diagnostics.length > 1) diagnostics.sort(compareDiagnostics);
  return loads ? { manifest: draft, diagnostics, valid, body } : { diagnostics, valid, body };
}

/** What the parse stage found, with the severity it has under this profile. */
function regrade(found: readonly Diagnostic[], profile: Profile): Diagnostic[] {
  const graded: Diagnostic[] = [];
  if (found.length === 0) return graded;
  for (const diagnostic of found) {
    const severity = severityIn(profile, diagnostic.code, diagnostic.severity);
    if (severity !== "off") graded.push({ ...diagnostic, severity });
  }
  return graded;
}

/** `lenient` loads whatever has a description or a body. */
function describeFromBody(draft: ManifestDraft, { body }: ParsedSkill, report: Report): void {
  if (draft.description !== "") return;
  draft.description = describeBody(body);
  if (draft.description !== "") return;
  report("skill-file.empty", "There is neither a description nor a body.", {
    hint: "Write a frontmatter with `name` and `description`, and instructions below it.",
  });
}

function measureBody(body: string): BodyFacts {
  const lines = body === "" ? 0 : countLineEnds(body, 0, body.length) + 1;
  return { lines, characters: body.length };
}
