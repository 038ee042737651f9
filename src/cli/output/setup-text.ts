/** What `metier setup` says: what is there, what would be installed, and what is left out with the reason. */
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import type { SkillSetUp } from "../../run/set-up-skill.ts";
import { usersText } from "../describe-packages.ts";
import type { DecidedPackage, PackageDecision } from "../setup/decide-packages.ts";
import { diagnosticText } from "./diagnostics-text.ts";
import { count, type Style, safeLine } from "./style.ts";

export interface SetUpReport extends PackageDecision {
  readonly setUps: readonly SkillSetUp[];
  readonly diagnostics: readonly Diagnostic[];
}

export function setUpText({ packages, command, setUps, diagnostics }: SetUpReport, style: Style): string {
  const environments = setUps.flatMap((setUp) => environmentLines(setUp, style));
  const sections = [
    section(
      "System packages",
      style,
      packages.map((entry) => packageText(entry, style)),
    ),
    section("Python and Node packages", style, environments),
    diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"),
    section("To install the system packages", style, command ? [command.join(" ")] : []),
  ].filter((text) => text !== "");
  return sections.length === 0 ? "No usable skill wants to have anything installed." : sections.join("\n\n");
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

function section(title: string, style: Style, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [style.bold(title), ...lines.map((line) => `  ${line}`)].join("\n");
}
