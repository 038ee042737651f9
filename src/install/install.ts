/**
 * How a skill is installed, on one screen: fetched into the quarantine, checked, scanned, shown, and only then put into the
 * store and recorded. Until the lock is replaced nothing is installed; whatever fails before leaves nothing but a
 * quarantine, which goes. Installing never raises trust.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import {
  type LockFile,
  lockedFolder,
  placedFolder,
  projectLockFile,
  userLockFile,
} from "../lock/lock-places.ts";
import { readLock } from "../lock/lock-store.ts";
import { checkRequest } from "./check-request.ts";
import { chooseSkills, setTwinsApart } from "./choose-skills.ts";
import { finishInstall } from "./finish-install.ts";
import { cancelledFault, type FaultOutcome, faulty } from "./install-fault.ts";
import type {
  InstallDecisions,
  InstallOutcome,
  InstallParts,
  InstallRequest,
  SkippedSkill,
} from "./install-request.ts";
import { lockFault } from "./lock-fault.ts";
import { openSource } from "./open-source.ts";
import { reportLinks } from "./plan-places.ts";
import { type Plan, type PlannedSkill, planSkill } from "./plan-skill.ts";
import {
  missingPlugins,
  pluginRequest,
  refuseFrozenPlugin,
  skipPlugin,
  trackInstalled,
} from "./plugin-config.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";
import { recordSkills } from "./record-skills.ts";
import { restoreSkills } from "./restore.ts";
import { reviewSkills } from "./review-skills.ts";
import { parseSourceAddress, type SourceAddress } from "./source-address.ts";

interface Installation {
  readonly request: InstallRequest;
  readonly decisions: InstallDecisions;
  readonly parts: InstallParts;
  readonly lockFile: LockFile;
  readonly quarantine: Quarantine;
}

/** Without a source, what the locks list is restored. */
export async function installSkills(
  request: InstallRequest,
  parts: InstallParts,
  decisions: InstallDecisions = {},
): Promise<InstallOutcome> {
  const wrong = checkRequest(request);
  if (wrong) return wrong;
  if (request.source === undefined) return restore(request, parts, decisions);
  const { cwd, places, projectRoot } = parts;
  const { ref } = request;
  const parsed = parseSourceAddress(request.source, {
    cwd,
    home: places.home,
    ...(ref !== undefined && { ref }),
  });
  if (!parsed.ok) return faulty("source.invalid", parsed.message, parsed.hint);
  if (request.link && parsed.address.kind !== "folder") {
    const message = `\`--link\` is for local folders, and \`${parsed.address.canonical}\` is none.`;
    return faulty("install.usage", message, "Leave out `--link`.");
  }
  const lockFile = request.project ? projectLockFile(projectRoot) : userLockFile(places);
  const quarantine = openQuarantine(places);
  try {
    return await install(parsed.address, { request, decisions, parts, lockFile, quarantine });
  } finally {
    quarantine.close();
  }
}

/** What the locks list, and then what the config names beside it. */
async function restore(
  request: InstallRequest,
  parts: InstallParts,
  decisions: InstallDecisions,
): Promise<InstallOutcome> {
  const restored = await restoreSkills(request, parts);
  if (!restored.ok || request.project) return restored;
  const { installed, skipped, findings, diagnostics } = restored;
  const all = {
    installed: [...installed],
    skipped: [...skipped],
    findings: [...findings],
    diagnostics: [...diagnostics],
  };
  for (const plugin of missingPlugins(parts)) {
    if (request.frozen) {
      all.skipped.push(refuseFrozenPlugin(plugin));
      continue;
    }
    const wanted = pluginRequest(plugin, request);
    const outcome = await installSkills(wanted.request, parts, { ...decisions, choose: wanted.choose });
    if (outcome.ok) {
      all.installed.push(...outcome.installed);
      all.skipped.push(...outcome.skipped);
      all.findings.push(...outcome.findings);
      all.diagnostics.push(...outcome.diagnostics);
    } else if (outcome.fault.code === "cancelled") return outcome;
    else all.skipped.push(skipPlugin(plugin, outcome.fault));
  }
  return { ok: true, ...all };
}

async function install(address: SourceAddress, installation: Installation): Promise<InstallOutcome> {
  const { request, decisions, parts, lockFile } = installation;
  const read = readLock(lockFile);
  if (!read.ok) return lockFault(read.diagnostic);
  const opened = await openSource(address, { ...request, ...installation });
  if (!opened.ok) return hintAtFolder(opened, request.source ?? "", parts);
  const { source, diagnostics } = opened;
  const choice = await chooseSkills(opened.skills, request, decisions);
  if (!choice.ok) return choice;

  const { unique, twins } = setTwinsApart(choice.chosen);
  const plans: Plan[] = [];
  for (const skill of unique) {
    plans.push(await planSkill(skill, { ...installation, lock: read.lock, address, source }));
  }
  const planned = plans.filter((plan) => plan.kind === "planned");
  const review = await reviewSkills(planned, {
    ...installation,
    source: source.canonical,
    resolved: source.resolved,
  });
  const skipped = [
    ...twins,
    ...plans.filter((plan) => plan.kind === "skipped").map(withoutKind),
    ...review.skipped,
  ];
  const { agreed, findings } = review;

  if (request.signal?.aborted) return cancelledFault();
  const isWhole = agreed.length === opened.skills.length;
  const notes = request.dryRun || agreed.length === 0 ? [] : await carryOut(agreed, isWhole, installation);
  if ("fault" in notes) return notes;
  const installed = agreed.map(({ called, entry }) => ({
    name: called,
    digest: entry.digest,
    path: lockedFolder(parts.places, lockFile, entry),
    ...(entry.placed && { placed: entry.placed.map((copy) => placedFolder(lockFile, copy)) }),
  }));
  const places = [...agreed.flatMap((plan) => plan.notes), ...reportLinks(agreed, lockFile, request)];
  return { ok: true, installed, skipped, findings, diagnostics: [...diagnostics, ...places, ...notes] };
}

/** `team/skills` is GitHub's; where it is a folder here as well, that may have been meant. */
function hintAtFolder({ fault }: FaultOutcome, source: string, { cwd }: InstallParts): FaultOutcome {
  const isBare = /^[\w-][^:]*$/.test(source) && existsSync(resolve(cwd, source));
  if (!isBare) return { ok: false, fault };
  return faulty(
    fault.code,
    fault.message,
    `For the one on this machine write \`./${source}\`. ${fault.hint}`,
  );
}

/** `isWhole`: it is everything that the source has. */
async function carryOut(
  agreed: readonly PlannedSkill[],
  isWhole: boolean,
  installation: Installation,
): Promise<readonly Diagnostic[] | FaultOutcome> {
  const entries = agreed.map(({ entry }) => entry);
  const replaced = agreed.flatMap(({ replaces }) => replaces ?? []);
  const fault = recordSkills(agreed, installation);
  if (fault) return fault;
  return [
    ...finishInstall(entries, replaced, installation),
    ...(await trackInstalled(entries, isWhole, installation.lockFile, installation.parts)),
  ];
}

function withoutKind({ kind: _, ...skipped }: SkippedSkill & { readonly kind: "skipped" }): SkippedSkill {
  return skipped;
}
