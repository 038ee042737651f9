/** The report of `metier doctor`, section by section. */
import type { Catalog, SearchedPlace } from "../../catalog/catalog.ts";
import type { LoadedConfig } from "../../config/config.ts";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { describeProbes } from "../../sandbox/describe-probes.ts";
import type { Skill } from "../../skill/skill.ts";
import type { Machine } from "../describe-machine.ts";
import { type PackageState, packageLine } from "../describe-packages.ts";
import { countDiagnostics, diagnosticText } from "./diagnostics-text.ts";
import { statusSymbol, summaryText } from "./list-text.ts";
import { count, type Style, safeLine } from "./style.ts";

export interface DoctorReport {
  readonly machine: Machine;
  readonly config: LoadedConfig;
  readonly catalog: Catalog;
  readonly unusable: readonly Skill[];
  readonly shadowed: readonly Skill[];
  readonly untrusted: readonly Skill[];
  readonly packages: readonly PackageState[];
  /** Line by line; none where nothing is configured. */
  readonly capabilities: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

const OUTCOMES: Record<SearchedPlace["outcome"], string> = {
  searched: "searched",
  missing: "does not exist",
  "not-a-directory": "is not a folder",
  unreadable: "cannot be read",
  "link-escapes": "is a link out of the project",
};

export function doctorText(report: DoctorReport, style: Style): string {
  const { machine, config, catalog, unusable, shadowed, untrusted, packages, capabilities, diagnostics } =
    report;
  const programs = Object.entries(machine.programs).map(([name, path]) => `${name}: ${path ?? "not found"}`);
  return [
    section("Environment", style, [
      `metier ${machine.metier}, node ${machine.node}, ${machine.platform}`,
      safeLine(`home: ${machine.home}`),
      ...programs.map(safeLine),
    ]),
    section("Sandbox", style, describeProbes(machine.sandbox).map(safeLine)),
    section("Interpreters that sandboxed commands find", style, interpreterLines(machine)),
    section(
      "Config, lowest first",
      style,
      config.layers.map(({ layer, where, status }) => safeLine(`${layer}: ${where} (${status})`)),
    ),
    section("Places searched, lowest precedence first", style, catalog.places.map(placeLine)),
    section("Skills", style, [summaryText(catalog.all)]),
    section(
      "Not usable",
      style,
      unusable.map((skill) => skillLine(skill, skill.reason ?? "", style)),
    ),
    section(
      "Shadowed",
      style,
      shadowed.map((skill) => skillLine(skill, skill.reason ?? "", style)),
    ),
    section(
      "Untrusted",
      style,
      untrusted.map((skill) => skillLine(skill, skill.trust.reason, style)),
    ),
    section("System packages of usable skills", style, packageLines(packages)),
    section("Capabilities", style, capabilities.map(safeLine)),
    section("Problems", style, [
      ...diagnostics.map((diagnostic) => diagnosticText(diagnostic, style).replaceAll("\n", "\n  ")),
      countDiagnostics(diagnostics) || "none",
    ]),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Everything of one name: who has it, who wanted it, and what is wrong with them. */
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
    winner?.status === "enabled" ? isBlocked && "the scan blocks it" : (winner?.reason ?? winner?.status);
  const verdict =
    winner === undefined
      ? `No skill is called \`${name}\`; these problems are about something of that name.`
      : why
        ? `\`${name}\` cannot be used: ${safeLine(why)}.`
        : `\`${name}\` can be used.`;
  return [
    verdict,
    section(
      "It is",
      style,
      winner
        ? [
            safeLine(`${winner.scope}  ${winner.location}`),
            safeLine(`trust: ${winner.trust.level} - ${winner.trust.reason}`),
          ]
        : [],
    ),
    section(
      "It hides",
      style,
      losers.map((skill) => safeLine(`${skill.scope}  ${skill.location}  ${skill.reason ?? ""}`)),
    ),
    section("Its system packages", style, packageLines(packages)),
    section(
      "Problems",
      style,
      diagnostics.map((diagnostic) => diagnosticText(diagnostic, style).replaceAll("\n", "\n  ")),
    ),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

function interpreterLines({ interpreters }: Machine): readonly string[] {
  const entries = Object.entries(interpreters);
  const missing = entries.flatMap(([name, path]) => (path === null ? [name] : []));
  const found = entries.flatMap(([name, path]) => (path === null ? [] : [`${name}: ${path}`]));
  const none = `not found: ${missing.join(", ")} (\`[sandbox] programs\` in the config brings more)`;
  return [...found, ...(missing.length > 0 ? [none] : [])].map(safeLine);
}

function packageLines(packages: readonly PackageState[]): readonly string[] {
  const isLacking = packages.some(({ installed }) => !installed);
  return [
    ...packages.map(packageLine),
    ...(isLacking ? ["`metier setup` says how to install them"] : []),
  ].map(safeLine);
}

function section(title: string, style: Style, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [style.bold(title), ...lines.map((line) => `  ${line}`)].join("\n");
}

function placeLine({ scope, path, outcome, skills, kind }: SearchedPlace): string {
  const found = outcome === "searched" ? count(skills, "skill") : OUTCOMES[outcome];
  return safeLine(`${scope}  ${path}  ${found}${outcome === "searched" ? ` (${kind})` : ""}`);
}

function skillLine(skill: Skill, why: string, style: Style): string {
  return `${statusSymbol(skill.status, style)} ${skill.scope}:${skill.name}  ${safeLine(why)}`;
}
