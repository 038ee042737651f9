/** The skills that someone wants to publish, each staged and checked. One that must not be published stops all of them. */
import { join } from "node:path";
import { compareText, type Diagnostic, hasErrors } from "../foundation/diagnostic.ts";
import { RefusedTree } from "../install/refused-tree.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { Finding } from "../scan/finding.ts";
import type { SkippedPart } from "../scan/scan-limits.ts";
import { readScanPolicy } from "../scan/scan-policy.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { SkillCandidate } from "../skill/skill.ts";
import { identifyFolder } from "../trust/content-identity.ts";
import type { Profile } from "../validate/profiles.ts";
import { type CheckRules, checkStaged } from "./check-staged.ts";
import { findAsked } from "./find-asked.ts";
import type { LeftOut } from "./left-out.ts";
import { type PublishRefusal, type RefusedSkill, refusePublish } from "./publish-outcome.ts";
import { readStaged, stageSkill } from "./stage-skill.ts";

export interface PreparedSkill {
  readonly name: string;
  readonly manifest: SkillManifest;
  /** Where the skill lies. */
  readonly directory: string;
  /** The staged copy. */
  readonly folder: string;
  /** Content identity of the staged copy. */
  readonly identity: string;
  readonly leftOut: readonly LeftOut[];
  /** Warnings and notes. */
  readonly diagnostics: readonly Diagnostic[];
  /** What the scan found that does not keep it from being published. */
  readonly findings: readonly Finding[];
  /** What the scan could not look at. */
  readonly unscanned: readonly SkippedPart[];
}

export interface PreparedSkills {
  readonly ok: true;
  /** By name, at least one. */
  readonly skills: readonly PreparedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface PrepareInputs {
  readonly metier: Pick<Metier, "config" | "require">;
  /** Names and paths; nothing: everything below `cwd`. */
  readonly asked: readonly string[];
  readonly cwd: string;
  /** Where the result will be, absolute. */
  readonly output: string;
  /** How strict the check is. Default: `strict`. */
  readonly profile?: Profile | undefined;
  /** An empty folder for the copies. */
  readonly stage: string;
}

export async function prepareSkills({
  metier,
  asked,
  cwd,
  output,
  profile = "strict",
  stage,
}: PrepareInputs): Promise<PreparedSkills | PublishRefusal> {
  const found = await findAsked(metier, asked, { cwd, output });
  if (found.skills.length === 0 || hasErrors(found.diagnostics)) {
    const [wrong] = found.diagnostics.filter(({ severity }) => severity === "error");
    return refusePublish(
      "publish.no_skill",
      wrong?.message ?? "There is no skill to publish.",
      wrong?.hint ?? "Name a skill, its folder, or a folder of skills.",
      { diagnostics: found.diagnostics },
    );
  }
  const policy = readScanPolicy(metier.config.config.scan, []);
  const skills: PreparedSkill[] = [];
  const refused: RefusedSkill[] = [];
  for (const [index, candidate] of found.skills.entries()) {
    const outcome = await prepareSkill(candidate, join(stage, String(index)), { policy, profile });
    if ("reason" in outcome) refused.push(outcome);
    else skills.push(outcome);
  }
  refused.push(...findTwins(skills));
  const diagnostics = [...policy.diagnostics, ...found.diagnostics];
  if (refused.length > 0) return refuseSkills(refused, diagnostics);
  return { ok: true, skills: skills.sort((a, b) => compareText(a.name, b.name)), diagnostics };
}

async function prepareSkill(
  candidate: SkillCandidate,
  place: string,
  rules: CheckRules,
): Promise<PreparedSkill | RefusedSkill> {
  const { form, file, directory, defaultName } = candidate;
  const refuse = (reason: string, more: Partial<RefusedSkill> = {}): RefusedSkill => {
    const path = form === "directory" ? directory : file;
    return { name: defaultName, path, reason, diagnostics: [], findings: [], leftOut: [], ...more };
  };
  if (form !== "directory") {
    return refuse("It is a single file; other clients know only a folder with a `SKILL.md`.");
  }
  try {
    const { folder, leftOut, diagnostics: remarks } = await stageSkill(candidate, place);
    readStaged(folder); // Refuses what cannot be packed before anything is written.
    const check = await checkStaged(folder, directory, rules);
    const diagnostics = [...remarks, ...check.diagnostics].map((diagnostic) => {
      return { ...diagnostic, path: diagnostic.path.replace(folder, directory) };
    });
    const { manifest, findings, unscanned, reason } = check;
    if (manifest === undefined) return refuse(reason, { diagnostics, findings, leftOut });
    const identified = identifyFolder(folder);
    if (!identified.ok) return refuse(identified.diagnostic.message, { leftOut });
    const { name } = manifest;
    const identity = identified.identity.digest;
    return { name, manifest, directory, folder, identity, leftOut, diagnostics, findings, unscanned };
  } catch (fault) {
    if (!(fault instanceof RefusedTree)) throw fault; // The machine's own.
    return refuse(fault.message);
  }
}

function findTwins(skills: readonly PreparedSkill[]): readonly RefusedSkill[] {
  return [...Map.groupBy(skills, ({ name }) => name).values()]
    .filter((group) => group.length > 1)
    .flatMap((group) =>
      group.map(({ name, directory, leftOut }) => {
        const others = group.filter((other) => other.directory !== directory).map((other) => other.directory);
        const reason = `Another skill has this name, too: \`${others.join("`, `")}\`.`;
        return { name, path: directory, reason, diagnostics: [], findings: [], leftOut };
      }),
    );
}

function refuseSkills(refused: readonly RefusedSkill[], diagnostics: readonly Diagnostic[]): PublishRefusal {
  const names = [...new Set(refused.map(({ name }) => `\`${name}\``))];
  const shown = names.slice(0, 5).join(", ");
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  const why = refused.length === 1 ? ` ${refused[0]?.reason}` : "";
  const hint =
    "`metier validate --strict` and `metier scan` show all of it, and `metier compat --fix` rewrites what loses nothing. `--profile standard` takes fields of Metier's own; or leave these skills out.";
  return refusePublish("publish.refused", `Nothing was written, because of ${shown}${more}.${why}`, hint, {
    refused,
    diagnostics,
  });
}
