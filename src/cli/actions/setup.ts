/** `metier setup`: what usable skills want to have installed, and, with `--install`, its installation. */
import { collectPackages } from "../../catalog/collect-packages.ts";
import { hasFolder } from "../../disclose/skill-folder.ts";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { MetierError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import type { SkillSetUp } from "../../run/set-up-skill.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { Skill } from "../../skill/skill.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { describePackages } from "../describe-packages.ts";
import { openMetier } from "../open-metier.ts";
import { type SetUpReport, setUpText } from "../output/setup-text.ts";
import { safeText, styleFor } from "../output/style.ts";
import type { PackageDecision } from "../setup/decide-packages.ts";

export interface SetupFlags extends CommonFlags {
  readonly install: boolean;
}

export async function run(
  context: CliContext,
  flags: SetupFlags,
  ...names: readonly string[]
): Promise<void> {
  const metier = await openMetier(context, flags);
  const skills = await chooseSkills(metier, names);
  const setUps = await setUpAll(context, flags, metier, skills);
  const decision = await decide(context, setUps);
  const diagnostics = [...badNames(metier, skills), ...setUps.flatMap((setUp) => setUp.diagnostics)];
  const report = { ...decision, setUps, diagnostics };
  if (!flags.json) out(context, setUpText(report, styleFor(context.io.color)));
  if (flags.install) await install(context, flags, report);
  else if (!flags.json && isLacking(report)) out(context, "\n`metier setup --install` installs it.");
  if (flags.json) outJson(context, reportJson(report));
  if (!decision.hasApt && decision.packages.some(({ installed }) => !installed))
    endWith(context, EXIT.prerequisite);
}

/** Those that can be used and want anything. One that is named must be usable. */
async function chooseSkills(metier: Metier, names: readonly string[]): Promise<readonly Skill[]> {
  if (names.length === 0) {
    const { namesPackages } = await import("../../run/environments/prepare-environments.ts");
    return metier
      .list()
      .filter(
        (skill) => skill.manifest.packages.length > 0 || (hasFolder(skill) && namesPackages(skill.directory)),
      );
  }
  return names.map((name) => {
    const skill = metier.require(name);
    if (skill.status === "enabled") return skill;
    const message = `\`${name}\` cannot be used: ${skill.reason ?? skill.status}.`;
    throw new MetierError("setup.refused", message, { hint: `\`metier doctor ${skill.name}\` says more.` });
  });
}

/** One after the other: each may download a lot. */
async function setUpAll(
  context: CliContext,
  { install: build }: SetupFlags,
  metier: Metier,
  skills: readonly Skill[],
): Promise<readonly SkillSetUp[]> {
  const stop = new AbortController();
  const release = context.io.onInterrupt(() => stop.abort());
  const setUps: SkillSetUp[] = [];
  for (const { scope, name } of skills) {
    const onProgress = (text: string): void => err(context, safeText(text));
    setUps.push(await metier.setUp(`${scope}:${name}`, { build, onProgress, signal: stop.signal }));
  }
  release();
  return setUps;
}

async function decide({ io }: CliContext, setUps: readonly SkillSetUp[]): Promise<PackageDecision> {
  const { decidePackages } = await import("../setup/decide-packages.ts");
  const users = setUps.map(({ skill, scope, trust, packages }) => ({ name: skill, scope, trust, packages }));
  const states = await describePackages(collectPackages(users), io.environment);
  return decidePackages(states, io.environment);
}

/** Names that no package can have were left out when the skill was read. */
function badNames({ catalog }: Metier, skills: readonly Skill[]): readonly Diagnostic[] {
  const locations = new Set(skills.map(({ location }) => location));
  return catalog.diagnostics.filter(({ code, path }) => code === "package.name" && locations.has(path));
}

async function install(context: CliContext, { json }: SetupFlags, report: SetUpReport): Promise<void> {
  const { command, packages, setUps, diagnostics } = report;
  if (diagnostics.some(({ code }) => code === "environment.failed")) endWith(context, EXIT.failed);
  if (command) {
    const { installPackages } = await import("../setup/install-packages.ts");
    await installPackages(context, command, context.io.interactive && !json);
    out(context, "The system packages are installed.");
  }
  const isLeft = packages.some(({ status }) => status === "left-out");
  const isAbsent = setUps.some(({ environments }) => environments.some(({ status }) => status === "absent"));
  if (isLeft || isAbsent) endWith(context, report.hasApt ? EXIT.refused : EXIT.prerequisite);
}

/** Whether an installation would bring anything; what it cannot bring has a diagnostic that says why. */
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
  return {
    packages,
    command: command?.join(" ") ?? null,
    environments: setUps.flatMap(({ skill, scope, trust, environments }) =>
      environments.map((environment) => ({ skill, scope, trust, ...environment })),
    ),
    diagnostics,
  };
}
