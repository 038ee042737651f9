/**
 * `metier setup`: lists what usable skills need installed. `--install` installs it; system packages only after a
 * person at a terminal types the word.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { CancelledError, EXIT, MetierError } from "@metier/base/errors";
import { createCommandFinder, type Environment } from "@metier/base/programs";
import { safeText } from "@metier/base/text";
import type { SkillSetUp } from "@metier/run";
import type { Metier } from "@metier/runtime";
import { collectPackages, hasFolder, type Skill } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import type { Action } from "../commands/define.ts";
import type { SetupFlags } from "../commands/managing.ts";
import { type CliContext, endWith, err, out, outJson, withInterrupt } from "../context.ts";
import { openMetier, ownEnvironment } from "../open-metier.ts";
import { type SetUpReport, setUpText } from "../output/doctor-text.ts";
import { styleFor } from "../output/style.ts";
import { describePackages, type PackageState } from "./doctor.ts";

export const setupAction: Action<SetupFlags> = async (context, flags, ...names) => {
  const metier = await openMetier(context, flags);
  const skills = await chooseSkills(metier, names);
  const setUps = await setUpAll(context, flags, metier, skills);
  const environment = ownEnvironment(context, metier);
  const users = setUps.map(({ skill, scope, trust, packages }) => ({ name: skill, scope, trust, packages }));
  const states = await describePackages(collectPackages(users), environment);
  const decision = await decidePackages(states, environment);
  const diagnostics = [...badNames(metier, skills), ...setUps.flatMap((setUp) => setUp.diagnostics)];
  const report = { ...decision, setUps, diagnostics };
  if (!flags.json) out(context, setUpText(report, styleFor(context.io.color)));
  if (flags.install) await install(context, flags, report, environment);
  else if (!flags.json && isLacking(report)) out(context, "\n`metier setup --install` installs it.");
  if (flags.json) outJson(context, reportJson(report));
  if (!decision.hasApt && decision.packages.some(({ installed }) => !installed))
    endWith(context, EXIT.prerequisite);
};

/** Usable skills that need anything. A skill that is named must be usable. */
async function chooseSkills(metier: Metier, names: readonly string[]): Promise<readonly Skill[]> {
  if (names.length === 0) {
    const { namesPackages } = await import("@metier/run/engine");
    const wants = (skill: Skill): boolean =>
      skill.manifest.packages.length > 0 || (hasFolder(skill) && namesPackages(skill.directory));
    return metier.list().filter(wants);
  }
  return names.map((name) => {
    const skill = metier.require(name);
    if (skill.status === "enabled") return skill;
    const message = `\`${name}\` can't be used: ${skill.reason ?? skill.status}.`;
    throw new MetierError("setup.refused", message, {
      hint: `Run \`metier doctor ${skill.name}\` for details.`,
    });
  });
}

/** One after the other, since each may download a lot. */
async function setUpAll(
  context: CliContext,
  { install: build }: SetupFlags,
  metier: Metier,
  skills: readonly Skill[],
): Promise<readonly SkillSetUp[]> {
  const onProgress = (text: string): void => err(context, safeText(text));
  return withInterrupt(context, async (signal) => {
    const setUps: SkillSetUp[] = [];
    for (const { scope, name } of skills) {
      setUps.push(await metier.setUp(`${scope}:${name}`, { build, onProgress, signal }));
    }
    return setUps;
  });
}

/** Impossible package names were dropped when the skill was read. */
function badNames({ catalog }: Metier, skills: readonly Skill[]): readonly Diagnostic[] {
  const locations = new Set(skills.map(({ location }) => location));
  return catalog.diagnostics.filter(({ code, path }) => code === "package.name" && locations.has(path));
}

async function install(
  context: CliContext,
  { json }: SetupFlags,
  report: SetUpReport,
  environment: Environment,
): Promise<void> {
  const { command, packages, setUps, diagnostics } = report;
  if (diagnostics.some(({ code }) => code === "environment.failed")) endWith(context, EXIT.failed);
  if (command) {
    await installPackages(context, command, environment, context.io.interactive && !json);
    out(context, "System packages installed.");
  }
  const isLeft = packages.some(({ status }) => status === "left-out");
  const isAbsent = setUps.some(({ environments }) => environments.some(({ status }) => status === "absent"));
  if (isLeft || isAbsent) endWith(context, report.hasApt ? EXIT.refused : EXIT.prerequisite);
}

/** Whether an installation would add anything; a diagnostic explains what it can't add. */
function isLacking({ command, setUps }: SetUpReport): boolean {
  return (
    command !== undefined ||
    setUps.some(
      ({ environments, diagnostics }) =>
        diagnostics.every(({ code }) => code !== "environment.not-built") &&
        environments.some(({ status }) => status === "absent"),
    )
  );
}

function reportJson({ packages, command, setUps, diagnostics }: SetUpReport): object {
  const environments = setUps.flatMap(({ skill, scope, trust, environments: own }) =>
    own.map((environment) => ({ skill, scope, trust, ...environment })),
  );
  return { packages, command: command?.join(" ") ?? null, environments, diagnostics };
}

export interface DecidedPackage extends PackageState {
  readonly status: "installed" | "to-install" | "left-out";
  /** Why it is left out. */
  readonly reason?: string;
}

export interface PackageDecision {
  readonly packages: readonly DecidedPackage[];
  /** The command that installs them. */
  readonly command?: readonly string[];
  /** Whether this system has apt at all. */
  readonly hasApt: boolean;
}

const INSTALL = ["apt-get", "install", "-y", "--no-install-recommends"];

async function decidePackages(
  states: readonly PackageState[],
  environment: Environment,
): Promise<PackageDecision> {
  const { findArchivePackages } = await import("@metier/sandbox");
  const hasApt = createCommandFinder(environment)("apt-get") !== undefined;
  const wanted = states.filter((state) => !state.installed && isForTrusted(state)).map(({ name }) => name);
  const archive = hasApt ? await findArchivePackages(wanted, environment) : undefined;
  const packages = states.map((state): DecidedPackage => {
    if (state.installed) return { ...state, status: "installed" };
    const reason = whyLeftOut(state, hasApt, archive);
    return reason === undefined
      ? { ...state, status: "to-install" }
      : { ...state, status: "left-out", reason };
  });
  const names = packages.filter(({ status }) => status === "to-install").map(({ name }) => name);
  if (names.length === 0) return { packages, hasApt };
  return { packages, hasApt, command: [...(process.getuid?.() === 0 ? [] : ["sudo"]), ...INSTALL, ...names] };
}

function isForTrusted({ skills }: PackageState): boolean {
  return skills.some(({ trust }) => trustAllows(trust, "install-system-packages"));
}

function whyLeftOut(
  state: PackageState,
  hasApt: boolean,
  archive: ReadonlySet<string> | undefined,
): string | undefined {
  if (!isForTrusted(state)) {
    const [first] = state.skills;
    return `only untrusted skills need it; run \`metier trust ${first?.scope}:${first?.name}\` to trust one`;
  }
  if (!hasApt) return "this system has no apt; install the equivalent package yourself";
  if (archive === undefined)
    return "`apt-cache` is missing, so Metier can't check whether the archive has it";
  if (archive.has(state.name)) return undefined;
  return "apt's archive doesn't have it; try `apt-get update`";
}

const WORD = "install";
const LIMITS = { timeoutMs: 60 * 60_000, maxOutputBytes: 65_536 };

/** Throws unless everything succeeded. */
async function installPackages(
  context: CliContext,
  command: readonly string[],
  environment: Environment,
  canAsk: boolean,
): Promise<void> {
  const { io } = context;
  const text = command.join(" ");
  const hint = `To install them yourself: ${text}`;
  if (!canAsk) {
    const message = "System packages are installed only after you confirm in a terminal.";
    throw new MetierError("setup.refused", message, { hint });
  }
  const typed = await io.ask(`Type \`${WORD}\` to run it; anything else cancels: `);
  if (typed.trim() !== WORD) {
    const message = `Nothing was installed: the answer was not \`${WORD}\`.`;
    throw new MetierError("setup.refused", message, { hint });
  }
  const [name = "", ...args] = command;
  const program = createCommandFinder(environment)(name);
  if (program === undefined) {
    throw new MetierError("setup.unavailable", `\`${name}\` was not found.`, { hint });
  }
  const { runProcess } = await import("@metier/sandbox");
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const outcome = await withInterrupt(context, (signal) =>
    runProcess({
      program,
      args,
      env: { PATH: environment.PATH ?? "", LANG: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" },
      limits: LIMITS,
      signal,
      sharesTerminal: true,
      onOutput: (stream, chunk) => io[stream].write(decoders[stream].decode(chunk, { stream: true })),
    }),
  );
  if (outcome.ended === "cancelled") throw new CancelledError("Cancelled while apt was running.");
  if (outcome.exitCode === 0) return;
  const how = outcome.reason ?? `\`${text}\` ended with ${outcome.exitCode ?? outcome.ended}.`;
  throw new MetierError("setup.failed", `The packages were not installed: ${how}`, {
    hint: "See its output above.",
  });
}
