/** Skills by scope, with a status symbol and a reason if there is one; and one skill as JSON. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { SCOPES, type Scope, type Skill, type SkillStatus } from "@metier/skills";
import { countDiagnostics, diagnosticText } from "./diagnostics.ts";
import { count, cutText, STATUS_SYMBOL, type Style } from "./style.ts";

const DESCRIPTION_WIDTH = 60;
const LEAST_WIDTH = 20;
const INDENT = "      ";
const MOST_ERRORS = 10;

const TITLES: Record<Scope, string> = {
  project: "Project Skills",
  user: "User Skills",
  custom: "Custom Skills",
  installed: "Installed Skills",
  integration: "Integration Skills",
  bundled: "Bundled Skills",
  remote: "Skills from MCP Servers",
};

/** Lines written at a time: the text of thousands of skills would be the largest thing in memory. */
const PIECE = 1000;

/** In pieces of whole lines. `columns` is the line width in a terminal. */
export function* listPieces(skills: readonly Skill[], style: Style, columns?: number): Iterable<string> {
  const groups = [...SCOPES]
    .reverse()
    .map((scope) => ({ scope, members: skills.filter((skill) => skill.scope === scope) }))
    .filter(({ members }) => members.length > 0);
  let lines: string[] = [];
  for (const [place, { scope, members }] of groups.entries()) {
    if (place > 0) lines.push("");
    lines.push(style.bold(`[${TITLES[scope]}]`));
    for (const skill of members) {
      addLines(lines, skill, style, columns);
      if (lines.length < PIECE) continue;
      yield `${lines.join("\n")}\n`;
      lines = [];
    }
  }
  if (lines.length > 0) yield `${lines.join("\n")}\n`;
}

function addLines(
  lines: string[],
  { name, description, status, reason, trust }: Skill,
  style: Style,
  columns = Number.POSITIVE_INFINITY,
): void {
  const notes = trust.level === "untrusted" ? `(${status}, untrusted)` : `(${status})`;
  const room = Math.max(LEAST_WIDTH, columns - INDENT.length - notes.length - 1);
  lines.push(
    `  ${statusSymbol(status, style)} ${style.bold(name)}`,
    `${INDENT}${cutText(description, Math.min(DESCRIPTION_WIDTH, room))} ${style.dim(notes)}`,
  );
  if (reason !== undefined) lines.push(`${INDENT}${style.yellow(cutText(reason, 200))}`);
}

export function statusSymbol(status: SkillStatus, style: Style): string {
  const symbol = STATUS_SYMBOL[status];
  if (status === "enabled") return style.green(symbol);
  return status === "unavailable" ? style.red(symbol) : style.dim(symbol);
}

/** `5 skills: 3 enabled, 1 disabled, 1 shadowed.` */
export function summaryText(skills: readonly Skill[]): string {
  const statuses: readonly SkillStatus[] = ["enabled", "disabled", "unavailable", "shadowed"];
  const parts = statuses
    .map((status) => ({ status, number: skills.filter((skill) => skill.status === status).length }))
    .filter(({ number }) => number > 0)
    .map(({ status, number }) => `${number} ${status}`);
  return `${count(skills.length, "skill")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`;
}

/** The errors in full, the rest as a count, so that a list stays a list. */
export function problemsText(diagnostics: readonly Diagnostic[], style: Style): string {
  if (diagnostics.length === 0) return "";
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const shown = errors.slice(0, MOST_ERRORS).map((diagnostic) => diagnosticText(diagnostic, style));
  const rest = `${countDiagnostics(diagnostics)}; \`metier doctor\` explains.`;
  return [...shown, rest].join("\n");
}

/** The skill as programs read it, without fields that only this package needs. */
export function skillJson(skill: Skill): object {
  const { name, description, manifest, scope, status, reason, trust, location, shadows, shadowedBy } = skill;
  const { remote } = skill;
  return {
    name,
    description,
    version: manifest.version,
    scope,
    status,
    reason,
    trust: trust.level,
    location,
    remote: remote && { server: remote.server, uri: remote.uri, digest: remote.digest },
    shadows: shadows.length > 0 ? shadows : undefined,
    shadowedBy,
  };
}
