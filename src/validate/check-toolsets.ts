/** Whether the modules that `toolsets` names are files of the skill. Looks at the disk, so only `validate` asks. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { findModule } from "../host/find-module.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { parseToolsetEntry } from "../skill/toolset-entry.ts";
import type { Profile } from "./profiles.ts";
import { createReport, showValue } from "./report.ts";

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
    if (entry === undefined) continue; // Its rule has said so.
    const module =
      form === "directory" && directory !== ""
        ? findModule(realPathOr(directory), entry.module)
        : { ok: false as const, message: "only a skill with a folder of its own has toolsets." };
    if (module.ok) continue;
    report("toolset.missing", `The toolset ${showValue(toolset)} cannot be loaded: ${module.message}`, {
      key: "toolsets",
      hint: "Write where the module lies in the skill's folder, a colon and the name of its export.",
    });
  }
  return found;
}
