/**
 * From a fetched source to the lock: skills are chosen, planned, shown, and only then put into the store and recorded. Loaded
 * while the source is fetched.
 */
import { existsSync } from "node:fs";
import type { Diagnostic } from "@metier/base/diagnostic";
import { done, type Result } from "@metier/base/result";
import { loadTomlEditor } from "@metier/skills/config";
import { type Lock, type LockFile, lockedFolder, placedFolder } from "@metier/skills/trust";
import type { SourceAddress } from "./addresses/source-address.ts";
import { chooseFromSource, setTwinsApart } from "./choose-skills.ts";
import { reportLinks } from "./clients.ts";
import type { OpenedSource, Quarantine } from "./fetch-source.ts";
import { type CommandResult, cancelledFault, type InstallFault } from "./install-fault.ts";
import { linkTogether } from "./links-together.ts";
import { type PlannedSkill, planSkill } from "./plan-skill.ts";
import { trackInstalled } from "./plugin-config.ts";
import { finishInstall, recordSkills } from "./record-skills.ts";
import type {
  InstallDecisions,
  InstallOutcome,
  InstallParts,
  InstallRequest,
  SkippedSkill,
} from "./requests.ts";
import { reviewSkills } from "./review-skills.ts";
import type { FetchedScans } from "./scan-fetched.ts";

export { openFetchedScans } from "./scan-fetched.ts";

/** What this thread needs later, loaded while a server answers. */
export async function loadRest({ plugins }: Pick<InstallParts, "plugins">): Promise<void> {
  const { loadScan } = await import("@metier/scan/engine");
  await loadScan();
  // A new config needs no editor.
  if (plugins && existsSync(plugins.file)) await loadTomlEditor();
}

export interface SourceInstallation {
  readonly address: SourceAddress;
  readonly request: InstallRequest;
  readonly decisions: InstallDecisions;
  readonly parts: InstallParts;
  readonly lockFile: LockFile;
  /** Before the installation. */
  readonly lock: Lock;
  readonly quarantine: Quarantine;
  readonly scans: FetchedScans;
}

export async function installFetched(
  { source, skills, diagnostics }: OpenedSource,
  installation: SourceInstallation,
): Promise<CommandResult<InstallOutcome>> {
  const { request, decisions } = installation;
  const choice = await chooseFromSource(skills, request, decisions);
  if (!choice.ok) return choice;

  const { unique, twins } = setTwinsApart(choice.value);
  const planned: PlannedSkill[] = [];
  const skipped = [...twins];
  for (const skill of unique) {
    const plan = await planSkill(skill, { ...installation, source });
    if (plan.ok) planned.push(plan.value);
    else skipped.push(plan.refusal);
  }
  return installPlanned({ source, skills, diagnostics }, planned, skipped, installation);
}

async function installPlanned(
  { source, skills, diagnostics }: OpenedSource,
  planned: readonly PlannedSkill[],
  leftOut: readonly SkippedSkill[],
  installation: SourceInstallation,
): Promise<CommandResult<InstallOutcome>> {
  const { request, parts, lockFile } = installation;
  const { canonical, resolved } = source;
  const review = await reviewSkills(planned, { ...installation, source: canonical, resolved });
  const { agreed, findings } = review;
  const skipped = [...leftOut, ...review.skipped];

  if (request.signal?.aborted) return cancelledFault();
  const isWhole = agreed.length === skills.length;
  const isIdle = request.dryRun || agreed.length === 0;
  const carried = isIdle ? done([]) : await carryOut(agreed, isWhole, installation);
  if (!carried.ok) return carried;
  const installed = agreed.map(({ called, entry }) => ({
    name: called,
    digest: entry.digest,
    path: lockedFolder(parts.places, lockFile, entry),
    placed: entry.placed?.map((copy) => placedFolder(lockFile, copy)),
  }));
  const places = [...agreed.flatMap((plan) => plan.notes), ...reportLinks(agreed, lockFile, request)];
  const told = [...diagnostics, ...places, ...carried.value];
  return done({ installed, skipped, findings, diagnostics: told });
}

/** `isWhole`: it is everything in the source. */
async function carryOut(
  agreed: readonly PlannedSkill[],
  isWhole: boolean,
  installation: SourceInstallation,
): Promise<Result<readonly Diagnostic[], InstallFault>> {
  const entries = agreed.map(({ entry }) => entry);
  const replaced = agreed.flatMap(({ replaces }) => replaces ?? []);
  const failed = recordSkills(agreed, installation);
  if (failed) return failed;
  const { parts, lockFile, request, quarantine } = installation;
  const { places } = parts;
  const linking = linkTogether(entries, { places, lockFile, quarantine });
  // They are installed: whatever happens to the config, the rest follows the lock.
  const [tracked] = await Promise.allSettled([trackInstalled(entries, isWhole, lockFile, parts)]);
  const context = { places, lockFile, force: request.force, linked: await linking };
  const unfinished = finishInstall(entries, replaced, context);
  if (tracked.status === "rejected") throw tracked.reason;
  return done([...unfinished, ...tracked.value]);
}
