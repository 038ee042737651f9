/** Everything below one root: searched, read, checked. What cannot be loaded becomes diagnostics. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import { withAlias } from "../skill/alias.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { BodyFacts, CheckedSkill, SkillCandidate } from "../skill/skill.ts";
import type { ScanOutcome } from "../sources/scan.ts";
import type { ScanLimits } from "../sources/scan-limits.ts";
import { scanRoot } from "../sources/scan-root.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { Profile } from "../validate/profiles.ts";
import { type ReadSkill, readSkill } from "./read-skill.ts";
import type { SkillIndex } from "./skill-index.ts";

export interface RootContent {
  readonly root: SkillRoot;
  readonly outcome: ScanOutcome;
  readonly skills: readonly LoadedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A skill that can be loaded: sound enough under the profile. */
export interface LoadedSkill {
  readonly candidate: SkillCandidate;
  readonly realFile: string;
  readonly manifest: SkillManifest;
  readonly body: BodyFacts;
  readonly diagnostics: readonly Diagnostic[];
}

export interface ReadRootOptions {
  readonly profile: Profile;
  readonly nested: boolean;
  readonly knownRoots: readonly string[];
  readonly index?: SkillIndex | undefined;
  readonly limits?: ScanLimits | undefined;
}

/** Between batches of this many files the event loop gets its turn: a server may be waiting. */
const BATCH = 512;

export async function readRoot(root: SkillRoot, options: ReadRootOptions): Promise<RootContent> {
  const { profile, nested, knownRoots, index, limits } = options;
  const scan = scanRoot(root, {
    knownRoots,
    nested,
    ...(limits && { limits }),
    ...(index && { listFolder: index.listFolder }),
  });
  const skills: LoadedSkill[] = [];
  const diagnostics = [...scan.diagnostics];
  for (const [number, found] of scan.found.entries()) {
    if (number % BATCH === BATCH - 1) await new Promise((resolve) => setImmediate(resolve));
    const recalled = index?.recall(found.candidate.file);
    const result: ReadSkill | Promise<ReadSkill> = recalled
      ? { checked: recalled }
      : readSkill(found.candidate, profile);
    const { checked, stats } = result instanceof Promise ? await result : result;
    if (index && stats) index.keep(found.candidate.file, stats, checked);
    if (isNoSkill(found.candidate, root.path, checked)) continue;
    if (checked.diagnostics.length > 0) diagnostics.push(...checked.diagnostics);
    const { manifest, body } = checked;
    const { candidate, realFile } = found;
    if (manifest) {
      const named = withAlias(manifest, root.locked?.alias);
      skills.push({ candidate, realFile, manifest: named, body, diagnostics: checked.diagnostics });
    }
  }
  index?.save();
  return { root, outcome: scan.outcome, skills, diagnostics };
}

/** A flat file that nothing marks as a skill (a README, a build file) is none, unless it was asked for by name. */
export function isNoSkill(
  { form, file }: SkillCandidate,
  asked: string,
  { diagnostics, body }: CheckedSkill,
): boolean {
  if (form === "directory" || file === asked) return false;
  const has = (code: DiagnosticCode): boolean => diagnostics.some((entry) => entry.code === code);
  if (has("frontmatter.missing")) return true;
  const isMarked =
    !has("name.missing") || !has("description.missing") || (form === "yaml" && body.characters > 0);
  return !isMarked;
}
