/**
 * How a skill is installed, on two screens: here it is fetched into the quarantine and checked; `install-fetched.ts` has it
 * scanned and shown, and only then puts it into the store and records it. Nothing is installed until the lock is replaced; a
 * failure before that leaves only a quarantine, which is removed. Installing never raises trust.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { done, type Refused } from "@metier/base/result";
import { MAX_NAME_LENGTH } from "@metier/skills";
import { pluginName } from "@metier/skills/config";
import { readLock } from "@metier/skills/formats";
import { isLockName, projectLockFile, userLockFile } from "@metier/skills/trust";
import { parseSourceAddress } from "./addresses/source-address.ts";
import { explainClients, findClient } from "./clients.ts";
import { openSource, withQuarantine } from "./fetch-source.ts";
import { type CommandResult, faulty, type InstallFault, lockFault, outcomeOf } from "./install-fault.ts";
import type { SourceInstallation } from "./install-fetched.ts";
import {
  type InstallDecisions,
  type InstallOutcome,
  type InstallParts,
  type InstallRequest,
  type SkippedSkill,
  skipFor,
} from "./requests.ts";
import type { WrittenContent } from "./written-files.ts";

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
  const read = readLock(lockFile);
  if (!read.ok) return lockFault(read.refusal);
  const how = { address, request, decisions, parts, lockFile, lock: read.value };
  return withQuarantine(places, (quarantine) => fetchAndInstall({ ...how, quarantine }));
}

/** What comes after the fetch is loaded while that waits. */
async function fetchAndInstall(
  installation: Omit<SourceInstallation, "scans">,
): Promise<CommandResult<InstallOutcome>> {
  const { address, request, parts } = installation;
  const { signal, onProgress, source = "" } = request;
  const isAll = request.skills?.includes("*") === true && !request.link;
  let loading: ReturnType<typeof loadStages> | undefined;
  const load = (): ReturnType<typeof loadStages> => {
    loading ??= loadStages(parts, isAll);
    return loading;
  };
  const ignore = (): void => undefined; // Whoever waits for it gets the error.
  const onWaiting = (): void => void load().catch(ignore);
  const onFound = (directory: string, content?: WrittenContent): void =>
    void load().then(({ scans }) => scans.begin(directory, content), ignore);
  const onStartOver = (): void => void load().then(({ scans }) => scans.startOver(), ignore);
  try {
    const hooks = { signal, onProgress, onFound, onStartOver, onWaiting };
    const opened = await openSource(address, { ...installation, ...hooks }, request);
    if (!opened.ok) return hintAtFolder(opened, source, parts);
    const { installFetched, scans } = await load();
    return await installFetched(opened.value, { ...installation, scans });
  } finally {
    await (await loading)?.scans.close();
  }
}

async function loadStages(parts: InstallParts, isAll: boolean) {
  const { installFetched, openFetchedScans, loadRest } = await import("./install-fetched.ts");
  const scans = openFetchedScans(parts.scan, isAll);
  void loadRest(parts).catch(() => undefined); // Whoever needs it gets the error.
  return { installFetched, scans };
}

/** What the locks list, then what the config names in addition. */
async function restore(
  request: InstallRequest,
  parts: InstallParts,
  decisions: InstallDecisions,
): Promise<CommandResult<InstallOutcome>> {
  const { restoreSkills } = await import("./restore.ts");
  const { missingPlugins, pluginRequest, refuseFrozenPlugin } = await import("./plugin-config.ts");
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
