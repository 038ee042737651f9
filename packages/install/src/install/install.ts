/**
 * How a skill is installed, on one screen: fetched into the quarantine, checked, scanned, shown, and only then put into
 * the store and recorded. Nothing is installed until the lock is replaced; a failure before that leaves only a
 * quarantine, which is removed. Installing never raises trust.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { done, type Refused, type Result } from "@metier/base/result";
import { MAX_NAME_LENGTH } from "@metier/skills";
import { pluginName } from "@metier/skills/config";
import { readLock } from "@metier/skills/formats";
import {
  isLockName,
  type LockFile,
  lockedFolder,
  placedFolder,
  projectLockFile,
  userLockFile,
} from "@metier/skills/trust";
import { parseSourceAddress, type SourceAddress } from "./addresses/source-address.ts";
import { chooseFromSource, setTwinsApart } from "./choose-skills.ts";
import { explainClients, findClient, reportLinks } from "./clients.ts";
import { openSource, type Quarantine, withQuarantine } from "./fetch-source.ts";
import {
  type CommandResult,
  cancelledFault,
  faulty,
  type InstallFault,
  lockFault,
  outcomeOf,
} from "./install-fault.ts";
import { type PlannedSkill, planSkill } from "./plan-skill.ts";
import { missingPlugins, pluginRequest, refuseFrozenPlugin, trackInstalled } from "./plugin-config.ts";
import { finishInstall, recordSkills } from "./record-skills.ts";
import {
  type InstallDecisions,
  type InstallOutcome,
  type InstallParts,
  type InstallRequest,
  type SkippedSkill,
  skipFor,
} from "./requests.ts";
import { restoreSkills } from "./restore.ts";
import { reviewSkills } from "./review-skills.ts";
import { type FetchedScans, openFetchedScans } from "./scan-fetched.ts";

interface Installation {
  readonly request: InstallRequest;
  readonly decisions: InstallDecisions;
  readonly parts: InstallParts;
  readonly lockFile: LockFile;
  readonly quarantine: Quarantine;
  readonly scans: FetchedScans;
}

export async function installSkills(
  request: InstallRequest,
  parts: InstallParts,
  decisions: InstallDecisions = {},
): Promise<InstallOutcome> {
  return outcomeOf(await installOrRestore(request, parts, decisions));
}

/** Without a source, restores what the locks list. */
async function installOrRestore(
  request: InstallRequest,
  parts: InstallParts,
  decisions: InstallDecisions,
): Promise<CommandResult<InstallOutcome>> {
  const wrong = checkRequest(request);
  if (wrong) return wrong;
  if (request.source === undefined) return restore(request, parts, decisions);
  const { cwd, places, projectRoot } = parts;
  const parsed = parseSourceAddress(request.source, { cwd, home: places.home, ref: request.ref });
  if (!parsed.ok) return parsed;
  const { value: address } = parsed;
  if (request.link && address.kind !== "folder") {
    const message = `\`--link\` works only with local folders; \`${address.canonical}\` is not one.`;
    return faulty("install.usage", message, "Remove `--link`.");
  }
  const lockFile = request.project ? projectLockFile(projectRoot) : userLockFile(places);
  const isAll = request.skills?.includes("*") === true && !request.link;
  return withQuarantine(places, async (quarantine) => {
    const scans = openFetchedScans(parts.scan, isAll);
    try {
      return await install(address, { request, decisions, parts, lockFile, quarantine, scans });
    } finally {
      await scans.close();
    }
  });
}

/** What the locks list, then what the config names in addition. */
async function restore(
  request: InstallRequest,
  parts: InstallParts,
  decisions: InstallDecisions,
): Promise<CommandResult<InstallOutcome>> {
  const restored = await restoreSkills(request, parts);
  if (!restored.ok || request.project) return restored;
  const reports = [restored.value];
  const skip = (skipped: SkippedSkill): void => {
    reports.push({ installed: [], skipped: [skipped], findings: [], diagnostics: [] });
  };
  for (const plugin of missingPlugins(parts)) {
    if (request.frozen) {
      skip(refuseFrozenPlugin(plugin));
      continue;
    }
    const wanted = pluginRequest(plugin, request);
    const outcome = await installOrRestore(wanted.request, parts, { ...decisions, choose: wanted.choose });
    if (outcome.ok) reports.push(outcome.value);
    else if (outcome.refusal.code === "cancelled") return outcome;
    else skip(skipFor(pluginName(plugin), outcome.refusal));
  }
  return done({
    installed: reports.flatMap(({ installed }) => installed),
    skipped: reports.flatMap(({ skipped }) => skipped),
    findings: reports.flatMap(({ findings }) => findings),
    diagnostics: reports.flatMap(({ diagnostics }) => diagnostics),
  });
}

async function install(
  address: SourceAddress,
  installation: Installation,
): Promise<CommandResult<InstallOutcome>> {
  const { request, decisions, parts, lockFile } = installation;
  const read = readLock(lockFile);
  if (!read.ok) return lockFault(read.refusal);
  const { signal, onProgress } = request;
  const onFound = installation.scans.begin;
  const opened = await openSource(address, { ...installation, signal, onProgress, onFound }, request);
  if (!opened.ok) return hintAtFolder(opened, request.source ?? "", parts);
  const { source, skills, diagnostics } = opened.value;
  const choice = await chooseFromSource(skills, request, decisions);
  if (!choice.ok) return choice;

  const { unique, twins } = setTwinsApart(choice.value);
  const planned: PlannedSkill[] = [];
  const skipped = [...twins];
  for (const skill of unique) {
    const plan = await planSkill(skill, { ...installation, lock: read.value, address, source });
    if (plan.ok) planned.push(plan.value);
    else skipped.push(plan.refusal);
  }
  const { canonical, resolved } = source;
  const review = await reviewSkills(planned, { ...installation, source: canonical, resolved });
  const { agreed, findings } = review;
  skipped.push(...review.skipped);

  if (signal?.aborted) return cancelledFault();
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

/** `team/skills` is on GitHub; if it is also a local folder, that may have been meant. */
function hintAtFolder(
  failed: Refused<InstallFault>,
  source: string,
  { cwd }: InstallParts,
): Refused<InstallFault> {
  const isBare = /^[\w-][^:]*$/.test(source) && existsSync(resolve(cwd, source));
  if (!isBare) return failed;
  const { code, message, hint } = failed.refusal;
  return faulty(code, message, `For the one on this machine, write \`./${source}\`. ${hint}`);
}

/** `isWhole`: it is everything in the source. */
async function carryOut(
  agreed: readonly PlannedSkill[],
  isWhole: boolean,
  installation: Installation,
): Promise<Result<readonly Diagnostic[], InstallFault>> {
  const entries = agreed.map(({ entry }) => entry);
  const replaced = agreed.flatMap(({ replaces }) => replaces ?? []);
  const failed = recordSkills(agreed, installation);
  if (failed) return failed;
  const { parts, lockFile, request } = installation;
  return done([
    ...finishInstall(entries, replaced, { places: parts.places, lockFile, force: request.force }),
    ...(await trackInstalled(entries, isWhole, lockFile, parts)),
  ]);
}

const RULES: readonly {
  isBroken(request: InstallRequest): boolean;
  readonly message: string;
  readonly hint: string;
}[] = [
  {
    isBroken: ({ copy, project, agents }) => copy === true && !project && !agents?.length,
    message: "`--copy` puts copies into the project or other clients' folders, but you named neither.",
    hint: "Add `--project` or `--agent`, or remove `--copy`: your store keeps the content anyway.",
  },
  {
    isBroken: ({ copy, link }) => copy === true && link === true,
    message: "`--copy` and `--link` cannot be used together.",
    hint: "Remove one of them.",
  },
  {
    isBroken: ({ frozen, source }) => frozen === true && source !== undefined,
    message: "`--frozen` restores what the lock lists, so it takes no source.",
    hint: "Remove the source, or `--frozen`.",
  },
  {
    isBroken: ({ source, ref, skills, name, link, copy, agents }) =>
      source === undefined &&
      [ref, skills, name, link, copy, agents].some((option) => option !== undefined && option !== false),
    message: "`--ref`, `--skill`, `--all`, `--name`, `--link`, `--copy` and `--agent` need a source.",
    hint: "Name a source, such as `metier install owner/repo --skill pdf`; without one, the lock is restored.",
  },
];

/** Whether the request makes sense, before anything is fetched. */
function checkRequest(request: InstallRequest): Refused<InstallFault> | undefined {
  const broken = RULES.find((rule) => rule.isBroken(request));
  if (broken) return faulty("install.usage", broken.message, broken.hint);
  const { name, agents = [] } = request;
  const unknown = agents.find((id) => findClient(id) === undefined);
  if (unknown !== undefined) {
    const message = `${JSON.stringify(unknown)} is not a client that Metier knows.`;
    return faulty("install.usage", message, explainClients(unknown));
  }
  if (name === undefined || isLockName(name)) return undefined;
  return faulty(
    "install.usage",
    `${JSON.stringify(name)} is not a valid skill name.`,
    `Use lowercase letters, digits and single hyphens, at most ${MAX_NAME_LENGTH} characters.`,
  );
}
