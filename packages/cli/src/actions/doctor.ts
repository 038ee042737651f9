/** `metier doctor`: shows what Metier found and decided, and why; for the whole setup or for one skill. */
import { compareDiagnostics, type Diagnostic, hasErrors } from "@metier/base/diagnostic";
import { EXIT } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { type Places, VERSION } from "@metier/base/places";
import { createCommandFinder, type Environment } from "@metier/base/programs";
import type { Metier } from "@metier/runtime";
import type { SandboxProbe } from "@metier/sandbox";
import { adviseHeld, describeHeld, holdBack, readScanPolicy } from "@metier/scan/engine";
import { collectUsablePackages, parseSkillAddress, type Skill, type WantedPackage } from "@metier/skills";
import type { Config } from "@metier/skills/config";
import type { Action, CommonFlags } from "../commands/define.ts";
import { type CliContext, endWith, fit, reply } from "../context.ts";
import { openMetier, openSilently, ownEnvironment } from "../open-metier.ts";
import { doctorText, explainText } from "../output/doctor-text.ts";
import { skillJson } from "../output/list-text.ts";

export const doctorAction: Action<CommonFlags, [name?: string]> = async (context, flags, name) => {
  if (name === undefined) await describeAll(context, flags, await openSilently(context, flags));
  else await explainOne(context, flags, await openMetier(context, flags), name);
};

async function explainOne(
  context: CliContext,
  flags: CommonFlags,
  metier: Metier,
  name: string,
): Promise<void> {
  const { catalog } = metier;
  const { name: plain, scope } = parseSkillAddress(name);
  const named = catalog.all.filter((skill) => skill.name === plain);
  const skills = scope === undefined ? named : named.filter((skill) => skill.scope === scope);
  const [winner] = skills;
  const diagnostics = [
    ...catalog.diagnostics.filter(({ path, message }) => isAbout(plain, skills, path, message)),
    ...(winner ? await reportHeld(metier, winner) : []),
  ];
  if (skills.length === 0 && diagnostics.length === 0) metier.require(name);
  if (skills.length === 0) endWith(context, EXIT.no);
  const packages = await describePackages(collectUsablePackages(skills), ownEnvironment(context, metier));
  const json = { name: plain, skills: skills.map(withReason), packages, diagnostics };
  reply(context, flags, json, (style) =>
    fit(context, explainText(plain, skills, diagnostics, packages, style)),
  );
}

async function describeAll(context: CliContext, flags: CommonFlags, metier: Metier): Promise<void> {
  const environment = ownEnvironment(context, metier);
  const { catalog, config } = metier;
  const described = await describeMachine(environment, metier.places, config.config.sandbox);
  const { machine } = described;
  const diagnostics = [...catalog.diagnostics, ...described.diagnostics, ...(await missingPlugins(metier))];
  const packages = await describePackages(collectUsablePackages(catalog.all), environment);
  const { capabilityLines, describeCapabilities } = await import("./describe-capabilities.ts");
  const capabilities = await describeCapabilities(metier, environment);
  const { describeModels, modelLines } = await import("./describe-models.ts");
  const models = await describeModels(metier, environment);
  const unusable = catalog.all.filter(({ status }) => status === "disabled" || status === "unavailable");
  const shadowed = catalog.all.filter(({ status }) => status === "shadowed");
  const untrusted = catalog.all.filter(
    ({ status, trust }) => status !== "shadowed" && trust.level === "untrusted",
  );
  const json = {
    ok: !hasErrors(catalog.diagnostics),
    machine,
    config: config.layers,
    places: catalog.places,
    skills: catalog.all.length,
    unusable: unusable.map(withReason),
    shadowed: shadowed.map(withReason),
    untrusted: untrusted.map(withReason),
    packages,
    capabilities,
    models,
    diagnostics: diagnostics.toSorted(compareDiagnostics),
  };
  const found = { machine, config, catalog, unusable, shadowed, untrusted, packages, diagnostics };
  const report = { ...found, capabilities: capabilityLines(capabilities), models: modelLines(models) };
  reply(context, flags, json, (style) => fit(context, doctorText(report, style)));
}

async function missingPlugins({ places, config, catalog }: Metier): Promise<readonly Diagnostic[]> {
  const { plugins: entries } = config.config.skills;
  if (entries.length === 0) return [];
  const { reportMissingPlugins } = await import("@metier/install/engine");
  const isThere = (name: string): boolean => catalog.get(`installed:${name}`) !== undefined;
  const { where: path = places.configFile, line } = config.origins.get("skills.plugins") ?? {};
  const plugins = { file: places.configFile, entries, isThere };
  return reportMissingPlugins({ places, plugins }, { path, ...presentFields({ line }) });
}

/** A file that couldn't become a skill goes by the name of its folder or file. */
function isAbout(name: string, skills: readonly Skill[], path: string, message: string): boolean {
  if (skills.some((skill) => skill.location === path)) return true;
  return (
    path.split(/[\\/]/).some((part) => part === name || part.replace(/\.(?:md|ya?ml)$/i, "") === name) ||
    message.includes(`\`${name}\``)
  );
}

function withReason(skill: Skill): object {
  return { ...skillJson(skill), trustReason: skill.trust.reason };
}

/** The facts about this machine that decide what works. */
export interface MachineFacts {
  readonly metier: string;
  readonly node: string;
  readonly platform: string;
  readonly home: string;
  /** Programs that later commands need, with their paths, or `null`. */
  readonly programs: Readonly<Record<string, string | null>>;
  /** The sandbox backends, tried just now; Metier uses the first that works. */
  readonly sandbox: readonly SandboxProbe[];
  /** Interpreters for sandboxed commands, with their paths, or `null`. */
  readonly interpreters: Readonly<Record<string, string | null>>;
}

const PROGRAMS = ["git", "bwrap"];

async function describeMachine(
  environment: Readonly<Record<string, string | undefined>>,
  places: Places,
  config: Config["sandbox"],
): Promise<{ readonly machine: MachineFacts; readonly diagnostics: readonly Diagnostic[] }> {
  const find = createCommandFinder(environment);
  // One statement per file, so that a bundle loads only these.
  const { chooseSandbox, probeOrder } = await import("@metier/sandbox");
  const { listInterpreters } = await import("@metier/sandbox");
  const { findPrograms } = await import("@metier/sandbox");
  const brought = findPrograms(config.programs, places, environment);
  const request = { backend: config.backend, trust: "trusted", environment, programs: brought } as const;
  const { sandbox } = await chooseSandbox(request);
  const machine: MachineFacts = {
    metier: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    home: places.base,
    programs: Object.fromEntries(PROGRAMS.map((name) => [name, find(name) ?? null])),
    sandbox: await probeOrder(request),
    interpreters: sandbox ? await listInterpreters(sandbox, brought) : {},
  };
  return { machine, diagnostics: brought.diagnostics };
}

/** The scan result for a skill, as using the skill would report it. */
async function reportHeld({ config, catalog, places }: Metier, skill: Skill): Promise<readonly Diagnostic[]> {
  const policy = readScanPolicy(config.config.scan, catalog.names());
  const held = await holdBack(skill, () => policy, places.cache);
  if (held === undefined) return [];
  const { name, location: path } = skill;
  const message = describeHeld(name, held);
  return [{ code: "scan.blocked", severity: "warning", path, message, hint: adviseHeld(name, held) }];
}

export interface PackageState extends WantedPackage {
  /** `null` if this system has no `dpkg-query`. */
  readonly installed: boolean | null;
}

export async function describePackages(
  wanted: readonly WantedPackage[],
  environment: Environment,
): Promise<readonly PackageState[]> {
  if (wanted.length === 0) return [];
  const { findInstalledPackages } = await import("@metier/sandbox");
  const names = wanted.map(({ name }) => name);
  const installed = await findInstalledPackages(names, environment);
  return wanted.map((entry) => ({ ...entry, installed: installed?.has(entry.name) ?? null }));
}
