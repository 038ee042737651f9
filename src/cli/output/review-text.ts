/** What is about to be installed, for the person who decides: how much, what can run, what it asks for, what was found. */
import type { InstallReview, ReviewedSkill } from "../../install/install-request.ts";
import { type Finding, isAtLeast } from "../../scan/finding.ts";
import { diagnosticText } from "./diagnostics-text.ts";
import { count, cutText, type Style, safeLine } from "./style.ts";

const WIDTH = 100;
const MOST_FINDINGS = 20;
const MOST_NAMES = 8;
/** Of many skills only what may need a decision is shown of each. */
const FULL_UP_TO = 5;

export function reviewText({ source, resolved, skills }: InstallReview, style: Style): string {
  const head = `${style.bold("From")} ${safeLine(source)}\n${style.dim(`     ${cutText(resolved, WIDTH)}`)}`;
  const isFull = skills.length <= FULL_UP_TO;
  return [head, ...skills.map((skill) => (isFull ? skillText(skill, style) : briefText(skill, style)))].join(
    "\n\n",
  );
}

function skillText(skill: ReviewedSkill, style: Style): string {
  const { description, findings, diagnostics, unscanned } = skill;
  const worth = diagnostics.filter(({ severity }) => severity === "warning");
  return [
    titleText(skill, style),
    `  ${cutText(description, WIDTH)}`,
    ...facts(skill).map(([label, value]) => `  ${style.dim(`${label}:`.padEnd(LABEL_WIDTH))} ${value}`),
    ...worth.map((diagnostic) => `  ${diagnosticText(diagnostic, style)}`),
    ...findingLines(findings, style),
    ...(unscanned.length > 0
      ? [`  ${style.yellow(`not scanned: ${names(unscanned.map(({ path }) => path))}`)}`]
      : []),
  ].join("\n");
}

/** One line, and what was found. */
function briefText(skill: ReviewedSkill, style: Style): string {
  const asked = facts(skill).slice(1);
  const asks = asked.map(([label]) => label).join(", ");
  const line = `  ${amountText(skill)}${asks === "" ? "" : `; ${asks}`}`;
  return [titleText(skill, style), line, ...findingLines(skill.findings, style)].join("\n");
}

function titleText({ called, name, version, replaces }: ReviewedSkill, style: Style): string {
  const alias = called === name ? "" : ` (${safeLine(name)})`;
  const number = version === undefined ? "" : ` ${safeLine(version)}`;
  const instead = replaces
    ? style.yellow(`  replaces what was installed from ${safeLine(replaces.source)}`)
    : "";
  return `${style.bold(safeLine(called))}${alias}${number}${instead}`;
}

const LABEL_WIDTH = 14;

type Fact = readonly [label: string, value: string];

/** The amount first; then only what the skill has or asks for. */
function facts(skill: ReviewedSkill): readonly Fact[] {
  const scripts = skill.scripts.map(({ language, paths }) => `${paths.length} ${safeLine(language)}`);
  const asked: readonly (readonly [string, readonly string[]])[] = [
    ["tools", skill.allowedTools],
    ["needs tools", skill.requiredTools],
    ["variables", skill.env],
    ["network", skill.network],
    ["reads", skill.reads],
    ["writes", skill.writes],
    ["packages", skill.packages],
    ["dependencies", skill.dependencies],
    ["capabilities", skill.capabilities],
    ["toolsets", skill.toolsets],
    ["hooks", skill.hooks],
    ["commands", skill.commands],
    ["mcp", skill.mcp],
  ];
  return [
    ["content", amountText(skill)],
    ...(scripts.length > 0 ? [["scripts", scripts.join(", ")] as const] : []),
    ...asked
      .filter(([, values]) => values.length > 0)
      .map(([label, values]) => [label, names(values)] as const),
    ...(skill.license === undefined ? [] : [["licence", safeLine(skill.license)] as const]),
  ];
}

function amountText({ files, bytes, digest }: ReviewedSkill): string {
  return `${count(files, "file")}, ${sizeText(bytes)}, ${digest.slice(0, "sha256:".length + 16)}…`;
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return count(bytes, "byte");
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function names(values: readonly string[]): string {
  const shown = values.slice(0, MOST_NAMES).map((value) => cutText(value, WIDTH));
  const more = values.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function findingLines(findings: readonly Finding[], style: Style): readonly string[] {
  const shown = findings.slice(0, MOST_FINDINGS).map((finding) => `  ${findingText(finding, style)}`);
  const more = findings.length - shown.length;
  return [...shown, ...(more > 0 ? [`  ${count(more, "more finding")}`] : [])];
}

export function findingText({ severity, id, path, line, message }: Finding, style: Style): string {
  const paint = isAtLeast(severity, "high")
    ? style.red
    : isAtLeast(severity, "medium")
      ? style.yellow
      : style.dim;
  return `${paint(severity)}  ${safeLine(`${path}:${line}`)}  ${safeLine(message)}  ${style.dim(id)}`;
}
