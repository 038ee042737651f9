/**
 * Stages and checks the skills to publish: each must be valid, without blocking findings or secrets. One that must not
 * be published stops all of them, and the reason is a value.
 */
import { join } from "node:path";
import { type Diagnostic, hasErrors, openHostCalls } from "@metier/base/diagnostic";
import type { ErrorCode } from "@metier/base/errors";
import { showPath } from "@metier/base/files";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import { type Finding, isAtLeast, type ScanPolicy, type SkippedPart } from "@metier/scan";
import { blockingFindings, judgeFindings, readScanPolicy } from "@metier/scan/engine";
import {
  candidateForFile,
  inspectSkill,
  type Profile,
  readSkill,
  SKILL_FILE,
  type SkillCandidate,
  type SkillManifest,
} from "@metier/skills";
import { identifyFolder } from "@metier/skills/trust";
import { RefusedTree } from "../install/install-fault.ts";
import { findAsked, type PublishingHost, type PublishProgress } from "./find-asked.ts";
import { type LeftOut, readStaged, stageSkill } from "./stage-skill.ts";

/** A skill in a packed plugin. */
export interface PackedSkill {
  /** From its manifest; the name of its folder in the plugin. */
  readonly name: string;
  /** Content identity. */
  readonly identity: string;
  /** Files and folders left out of the plugin, by path. */
  readonly leftOut: readonly LeftOut[];
  /** Findings that do not prevent publishing. */
  readonly findings: readonly Finding[];
  /** What the scan could not check. */
  readonly unscanned: readonly SkippedPart[];
}

export interface PreparedSkill extends PackedSkill {
  readonly manifest: SkillManifest;
  /** Where the skill is. */
  readonly directory: string;
  /** The staged copy, with the same content identity. */
  readonly folder: string;
  /** Warnings and notes. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Sorted by name, at least one; and diagnostics about the paths and the skills. */
type PreparedSkills = {
  readonly skills: readonly PreparedSkill[];
  readonly diagnostics: readonly Diagnostic[];
};

interface PrepareOptions {
  readonly skills?: readonly string[];
  readonly profile?: Profile | undefined;
  onProgress?(step: PublishProgress): unknown;
}

interface PreparePlace {
  readonly cwd: string;
  /** Where the result will be, absolute. */
  readonly output: string;
  /** An empty folder for the copies. */
  readonly stage: string;
  /** Whether this many can be published at all, before any is checked. */
  refuseCount?(skills: number): NotPublished | undefined;
}

export async function prepareSkills(
  metier: Pick<PublishingHost, "config" | "require">,
  options: PrepareOptions,
  { cwd, output, stage, refuseCount }: PreparePlace,
): Promise<Result<PreparedSkills, PublishFault>> {
  const { skills: asked = [], profile = "strict" } = options;
  const tell = openHostCalls(undefined);
  const found = await findAsked(metier, asked, cwd, output);
  if (found.skills.length === 0 || hasErrors(found.diagnostics)) {
    const [wrong] = found.diagnostics.filter(({ severity }) => severity === "error");
    return refusePublish(
      "publish.no_skill",
      wrong?.message ?? "There is no skill to publish.",
      wrong?.hint ?? "Name a skill, its folder, or a folder of skills.",
      { diagnostics: found.diagnostics },
    );
  }
  const tooMany = refuseCount?.(found.skills.length);
  if (tooMany) return tooMany;
  const policy = readScanPolicy(metier.config.config.scan, []);
  const skills: PreparedSkill[] = [];
  const unfit: RefusedSkill[] = [];
  const total = found.skills.length;
  for (const [index, candidate] of found.skills.entries()) {
    tell("onProgress", options.onProgress, { what: "Checking skills", done: index, total });
    const prepared = await prepareSkill(candidate, join(stage, String(index)), { policy, profile });
    if (prepared.ok) skills.push(prepared.value);
    else unfit.push(prepared.refusal);
  }
  unfit.push(...findTwins(skills));
  const diagnostics = [...policy.diagnostics, ...found.diagnostics];
  if (unfit.length > 0) return refuseSkills(unfit, diagnostics);
  skills.sort((a, b) => compareText(a.name, b.name));
  return done({ skills, diagnostics: [...diagnostics, ...skills.flatMap((skill) => skill.diagnostics)] });
}

async function prepareSkill(
  candidate: SkillCandidate,
  place: string,
  rules: CheckRules,
): Promise<Result<PreparedSkill, RefusedSkill>> {
  const { form, file, directory, defaultName } = candidate;
  const refuse = (reason: string, more: Partial<RefusedSkill> = {}): Refused<RefusedSkill> => {
    const path = form === "directory" ? directory : file;
    return refused({ name: defaultName, path, reason, diagnostics: [], findings: [], leftOut: [], ...more });
  };
  if (form !== "directory") {
    return refuse("It is a single file; other clients find only a folder with a `SKILL.md`.");
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
    if (!identified.ok) return refuse(identified.refusal.message, { leftOut });
    const { name } = manifest;
    const identity = identified.value.digest;
    return done({ name, manifest, directory, folder, identity, leftOut, diagnostics, findings, unscanned });
  } catch (fault) {
    if (!(fault instanceof RefusedTree)) throw fault; // The machine's own error.
    return refuse(fault.message);
  }
}

function findTwins(skills: readonly PreparedSkill[]): readonly RefusedSkill[] {
  return [...Map.groupBy(skills, ({ name }) => name).values()]
    .filter((group) => group.length > 1)
    .flatMap((group) =>
      group.map(({ name, directory, leftOut }) => {
        const others = group.filter((other) => other.directory !== directory).map((other) => other.directory);
        const reason = `Another skill has the same name: \`${others.join("`, `")}\`.`;
        return { name, path: directory, reason, diagnostics: [], findings: [], leftOut };
      }),
    );
}

function refuseSkills(unfit: readonly RefusedSkill[], diagnostics: readonly Diagnostic[]): NotPublished {
  const names = [...new Set(unfit.map(({ name }) => `\`${name}\``))];
  const shown = names.slice(0, 5).join(", ");
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  const why = unfit.length === 1 ? ` ${unfit[0]?.reason}` : "";
  const hint =
    "See everything with `metier validate --strict` and `metier scan`; `metier compat --fix` rewrites what loses nothing. Allow Metier's own fields with `--profile standard`, or leave these skills out.";
  return refusePublish("publish.refused", `Nothing was written, because of ${shown}${more}.${why}`, hint, {
    refused: unfit,
    diagnostics,
  });
}

interface StagedCheck {
  /** Absent: it must not be published, for the given `reason`. */
  readonly manifest?: SkillManifest;
  readonly reason: string;
  readonly diagnostics: readonly Diagnostic[];
  /** Those that prevent publishing; otherwise the other findings. */
  readonly findings: readonly Finding[];
  readonly unscanned: readonly SkippedPart[];
}

interface CheckRules {
  readonly policy: ScanPolicy;
  readonly profile: Profile;
}

/** `directory`: where the skill itself is, which a baseline refers to. */
async function checkStaged(
  folder: string,
  directory: string,
  { policy, profile }: CheckRules,
): Promise<StagedCheck> {
  const location = join(folder, SKILL_FILE);
  const { checked } = await readSkill(candidateForFile(location, "directory", folder), profile, inspectSkill);
  const { manifest, diagnostics } = checked;
  if (manifest === undefined || hasErrors(diagnostics)) {
    const reason = `It is not valid (profile \`${profile}\`), so other clients may refuse it.`;
    return { reason, diagnostics, findings: [], unscanned: [] };
  }
  const { scanSkill } = await import("@metier/scan/engine");
  const { name } = manifest;
  const { ignore } = policy;
  const scan = await scanSkill(
    { form: "directory", location, directory: folder },
    { name, ignore, identify: false },
  );
  const left = judgeFindings(scan.findings, { name, directory }, policy);
  const secrets = left.filter(isSecret);
  const blocking = blockingFindings(left, policy);
  if (secrets.length + blocking.length === 0) {
    return { manifest, reason: "", diagnostics, findings: left, unscanned: scan.skipped };
  }
  const findings = left.filter((finding) => secrets.includes(finding) || blocking.includes(finding));
  const reason =
    secrets.length > 0
      ? `It has a secret in ${nameFiles(secrets)}.`
      : `The scan blocks it because of ${nameFiles(blocking)} (\`scan.block\` is \`${policy.block}\`).`;
  return { reason, diagnostics, findings, unscanned: scan.skipped };
}

/**
 * Everyone who gets the skill gets the secret too. The mildest of these rules mistakes digests for secrets, so it does
 * not decide.
 */
function isSecret({ id, severity }: Finding): boolean {
  return id.startsWith("secrets.") && isAtLeast(severity, "medium");
}

function nameFiles(findings: readonly Finding[]): string {
  const paths = [...new Set(findings.map(({ path }) => path))];
  const shown = paths.slice(0, 3).map(showPath);
  return `${shown.join(", ")}${paths.length > 3 ? ` and ${paths.length - 3} more` : ""}`;
}

/** Code of a fault that prevents publishing. */
export type PublishFaultCode = Extract<ErrorCode, `publish.${string}`>;

/** A skill that must not be published, and why. */
export interface RefusedSkill {
  /** The name of its folder or flat file, or its own. */
  readonly name: string;
  /** Its folder or flat file. */
  readonly path: string;
  /** One sentence. */
  readonly reason: string;
  /** What is wrong with its files. */
  readonly diagnostics: readonly Diagnostic[];
  /** Findings that must not be published. */
  readonly findings: readonly Finding[];
  /** Files and folders that would not be published, by path. */
  readonly leftOut: readonly LeftOut[];
}

/** Why nothing was published or packed. */
export interface PublishFault {
  /** Stable: programs may compare it. */
  readonly code: PublishFaultCode;
  /** What happened, and to which value. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  /** The skills that must not be published; nothing is published without them. */
  readonly refused: readonly RefusedSkill[];
  /** About the requested paths. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The outcome if nothing was written. */
export interface PublishRefusal {
  /** Distinguishes it from a report. */
  readonly ok: false;
  /** Why nothing was written. */
  readonly fault: PublishFault;
}

/** Why nothing is published; used inside this folder. */
export type NotPublished = Refused<PublishFault>;

export function refusePublish(
  code: PublishFaultCode,
  message: string,
  hint: string,
  more: Partial<Pick<PublishFault, "refused" | "diagnostics">> = {},
): NotPublished {
  return refused({ code, message, hint, refused: [], diagnostics: [], ...more });
}
