/** The reports of `metier doctor` and `metier setup`, section by section. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { safeLine } from "@metier/base/text";
import type { SkillSetUp } from "@metier/run";
import { describeProbes } from "@metier/sandbox";
import type { Catalog, PackageUser, SearchedPlace, Skill } from "@metier/skills";
import type { LoadedConfig } from "@metier/skills/config";
import type { MachineFacts, PackageState } from "../actions/doctor.ts";
import type { DecidedPackage, PackageDecision } from "../actions/setup.ts";
import { countDiagnostics, diagnosticsText, diagnosticText } from "./diagnostics.ts";
import { statusSymbol, summaryText } from "./list-text.ts";
import { count, type Style } from "./style.ts";

interface DoctorReport {
  readonly machine: MachineFacts;
  readonly config: LoadedConfig;
  readonly catalog: Catalog;
  readonly unusable: readonly Skill[];
  readonly shadowed: readonly Skill[];
  readonly untrusted: readonly Skill[];
  readonly packages: readonly PackageState[];
  /** One entry per line; empty if nothing is configured. */
  readonly capabilities: readonly string[];
  /** The same for models. */
  readonly models: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

const OUTCOMES: Record<SearchedPlace["outcome"], string> = {
  searched: "searched",
  missing: "does not exist",
  "not-a-directory": "is not a folder",
  unreadable: "can't be read",
  "link-escapes": "is a link out of the project",
};

export function doctorText(report: DoctorReport, style: Style): string {
  const { machine, config, catalog, unusable, shadowed, untrusted, packages, diagnostics } = report;
  const programs = Object.entries(machine.programs).map(([name, path]) => `${name}: ${path ?? "not found"}`);
  const lines = (skills: readonly Skill[], whyOf: (skill: Skill) => string): readonly string[] => {
    const each = skills.slice(0, skills.length > EACH_UP_TO ? MOST_EACH : EACH_UP_TO).map((skill) => {
      const address = `${statusSymbol(skill.status, style)} ${skill.scope}:${skill.name}`;
      return `${address}  ${safeLine(whyOf(skill))}`;
    });
    const more = skills.length - each.length;
    return more > 0 ? [...each, `and ${more} more; \`metier list\` shows them all`] : each;
  };
  const layers = config.layers.map(({ layer, where, status }) => `${layer}: ${where} (${status})`);
  return joinSections(style, {
    Environment: [
      `metier ${machine.metier}, node ${machine.node}, ${machine.platform}`,
      ...[`home: ${machine.home}`, ...programs].map(safeLine),
    ],
    Models: report.models.map(safeLine),
    Sandbox: describeProbes(machine.sandbox).map(safeLine),
    "Interpreters for sandboxed commands": interpreterLines(machine),
    "Config, lowest first": layers.map(safeLine),
    "Places searched, lowest precedence first": catalog.places.map(placeLine),
    Skills: [summaryText(catalog.all)],
    Unusable: lines(unusable, ({ reason = "" }) => reason),
    Shadowed: lines(shadowed, ({ reason = "" }) => reason),
    Untrusted: lines(untrusted, ({ trust }) => trust.reason),
    "System packages of usable skills": packageLines(packages),
    Capabilities: report.capabilities.map(safeLine),
    Problems: [
      ...problemLines(worstFirst(diagnostics), style),
      ...(diagnostics.length > MOST_PROBLEMS ? [`\`--json\` lists all ${diagnostics.length}`] : []),
      countDiagnostics(diagnostics) || "none",
    ],
  });
}

/** Above this number, only the first few skills are listed. */
const EACH_UP_TO = 20;
const MOST_EACH = 5;
const MOST_PROBLEMS = 100;

/** All diagnostics; if there are very many, errors come first. */
function worstFirst(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (diagnostics.length <= MOST_PROBLEMS) return diagnostics;
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const others = diagnostics.filter(({ severity }) => severity !== "error");
  return [...errors, ...others].slice(0, MOST_PROBLEMS);
}

/** Everything with one name: who won it, who else wanted it, and what is wrong with them. */
export function explainText(
  name: string,
  skills: readonly Skill[],
  diagnostics: readonly Diagnostic[],
  packages: readonly PackageState[],
  style: Style,
): string {
  const [winner, ...losers] = skills;
  const isBlocked = diagnostics.some(({ code }) => code === "scan.blocked");
  const why =
    winner?.status === "enabled" ? isBlocked && "blocked by the scan" : (winner?.reason ?? winner?.status);
  const verdict =
    winner === undefined
      ? `No skill is named \`${name}\`, but these problems concern that name.`
      : why
        ? `\`${name}\` can't be used: ${safeLine(why)}.`
        : `\`${name}\` can be used.`;
  const it = winner && [
    `${winner.scope}  ${winner.location}`,
    `trust: ${winner.trust.level} - ${winner.trust.reason}`,
  ];
  const hidden = losers.map(({ scope, location, reason = "" }) => `${scope}  ${location}  ${reason}`);
  const more = joinSections(style, {
    "It is": (it ?? []).map(safeLine),
    "It hides": hidden.map(safeLine),
    "Its system packages": packageLines(packages),
    Problems: problemLines(diagnostics, style),
  });
  return [verdict, more].filter((text) => text !== "").join("\n\n");
}

function problemLines(diagnostics: readonly Diagnostic[], style: Style): readonly string[] {
  return diagnostics.map((diagnostic) => diagnosticText(diagnostic, style).replaceAll("\n", "\n  "));
}

/** The sections that have lines, by title. */
function joinSections(style: Style, sections: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(sections)
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [style.bold(title), ...lines.map((line) => `  ${line}`)].join("\n"))
    .join("\n\n");
}

function interpreterLines({ interpreters }: MachineFacts): readonly string[] {
  const entries = Object.entries(interpreters);
  const missing = entries.flatMap(([name, path]) => (path === null ? [name] : []));
  const found = entries.flatMap(([name, path]) => (path === null ? [] : [`${name}: ${path}`]));
  const none = `not found: ${missing.join(", ")} (add more with \`[sandbox] programs\` in the config)`;
  return [...found, ...(missing.length > 0 ? [none] : [])].map(safeLine);
}

function packageLines(packages: readonly PackageState[]): readonly string[] {
  const isLacking = packages.some(({ installed }) => !installed);
  return [
    ...packages.map(packageLine),
    ...(isLacking ? ["`metier setup` shows how to install them"] : []),
  ].map(safeLine);
}

function placeLine({ scope, path, outcome, skills, kind }: SearchedPlace): string {
  const found = outcome === "searched" ? count(skills, "skill") : OUTCOMES[outcome];
  return safeLine(`${scope}  ${path}  ${found}${outcome === "searched" ? ` (${kind})` : ""}`);
}

export interface SetUpReport extends PackageDecision {
  readonly setUps: readonly SkillSetUp[];
  readonly diagnostics: readonly Diagnostic[];
}

export function setUpText({ packages, command, setUps, diagnostics }: SetUpReport, style: Style): string {
  const environments = setUps.flatMap((setUp) => environmentLines(setUp, style));
  const sections = [
    joinSections(style, {
      "System packages": packages.map((entry) => packageText(entry, style)),
      "Python and Node packages": environments,
    }),
    diagnosticsText(diagnostics, style),
    joinSections(style, command ? { "To install the system packages": [command.join(" ")] } : {}),
  ].filter((text) => text !== "");
  return sections.length === 0 ? "No usable skill needs anything installed." : sections.join("\n\n");
}

const SYMBOLS: Readonly<Record<DecidedPackage["status"], string>> = {
  installed: "✓",
  "to-install": "+",
  "left-out": "✗",
};

function packageText({ name, status, reason, skills }: DecidedPackage, style: Style): string {
  const what = status === "to-install" ? "missing" : status === "left-out" ? `left out: ${reason}` : status;
  const symbol = status === "left-out" ? style.yellow(SYMBOLS[status]) : style.green(SYMBOLS[status]);
  return `${symbol} ${safeLine(`${name} (${usersText(skills)}): ${what}`)}`;
}

function environmentLines({ skill, scope, environments }: SkillSetUp, style: Style): readonly string[] {
  return environments.map(({ kind, lock, packages, status }) => {
    const isReady = status === "ready";
    const symbol = style.green(isReady ? SYMBOLS.installed : SYMBOLS["to-install"]);
    const what = `${count(packages.length, `${kind} package`)}, ${isReady ? "ready" : "not installed"}`;
    return `${symbol} ${safeLine(`${scope}:${skill} ${lock}: ${what}`)}`;
  });
}

/** `jq: missing (user:pdf, custom:scan untrusted)` */
function packageLine({ name, installed, skills }: PackageState): string {
  const state = installed === null ? "unknown" : installed ? "installed" : "missing";
  return `${name}: ${state} (${usersText(skills)})`;
}

/** Full addresses, so that each can be passed to `metier trust`. */
function usersText(skills: readonly PackageUser[]): string {
  return skills
    .map(({ name, scope, trust }) => `${scope}:${name}${trust === "untrusted" ? " untrusted" : ""}`)
    .join(", ");
}
