/** What was published or packed, what was left out of it, and why something was not. */
import type { LeftOut } from "../../publish/left-out.ts";
import type { PackedSkill, PackReport } from "../../publish/plugin/pack-plugin.ts";
import type { PublishFault, RefusedSkill } from "../../publish/publish-outcome.ts";
import type { PublishReport } from "../../publish/well-known/publish-skills.ts";
import { diagnosticText } from "./diagnostics-text.ts";
import { findingText } from "./review-text.ts";
import { count, type Style, safeLine } from "./style.ts";

export function publishedText(report: PublishReport, dryRun: boolean, style: Style): string {
  const { skills, index, removed, kept, diagnostics } = report;
  const lines = skills.flatMap((skill) => [
    `${style.green("✓")} ${safeLine(`${skill.name}  ${skill.type}  ${skill.url}  ${count(skill.size, "byte")}`)}`,
    ...detailLines(skill, style),
  ]);
  return [
    ...diagnostics.filter(({ severity }) => severity !== "info").map((each) => diagnosticText(each, style)),
    ...lines,
    ...kept.map((file) =>
      style.yellow(safeLine(`${file} of an earlier publish was changed since; it stays.`)),
    ),
    ...(removed.length > 0
      ? [style.dim(`${count(removed.length, "file")} of an earlier publish removed.`)]
      : []),
    safeLine(`${count(skills.length, "skill")} ${dryRun ? "would be listed" : "listed"} in ${index}.`),
  ].join("\n");
}

export function packedText({ skills, path, plugin, servers, diagnostics }: PackReport, style: Style): string {
  const version = plugin.version === undefined ? "" : ` ${plugin.version}`;
  const more = servers.length > 0 ? ` and ${count(servers.length, "MCP server")}` : "";
  return [
    ...diagnostics.filter(({ severity }) => severity !== "info").map((each) => diagnosticText(each, style)),
    ...skills.flatMap((skill) => [
      `${style.green("✓")} ${safeLine(skill.name)}`,
      ...detailLines(skill, style),
    ]),
    safeLine(`Plugin ${plugin.name}${version} with ${count(skills.length, "skill")}${more} is at ${path}.`),
  ].join("\n");
}

/** Everything about each skill that must not be published. */
export function refusedText({ refused, diagnostics }: PublishFault, style: Style): string {
  return [
    ...diagnostics.map((each) => diagnosticText(each, style)),
    ...refused.map((skill) => refusedSkill(skill, style)),
  ].join("\n");
}

function refusedSkill(
  { name, path, reason, diagnostics, findings, leftOut }: RefusedSkill,
  style: Style,
): string {
  return [
    `${style.red("✗")} ${safeLine(`${name}  ${path}`)}`,
    `    ${safeLine(reason)}`,
    ...diagnostics
      .filter(({ severity }) => severity === "error")
      .map((each) => `    ${diagnosticText(each, style)}`),
    ...findings.map((finding) => `    ${findingText(finding, style)}`),
    ...leftOutLines(leftOut, style),
  ].join("\n");
}

/** Below a skill that is published: what of it is not, and what someone should look at. */
function detailLines({ name, leftOut, findings, unscanned }: PackedSkill, style: Style): readonly string[] {
  const found = `${count(findings.length, "finding")} of the scan; \`metier scan\` shows ${findings.length === 1 ? "it" : "them"}`;
  return [
    ...leftOutLines(leftOut, style),
    ...(findings.length > 0 ? [style.yellow(safeLine(`    ${name}: ${found}.`))] : []),
    ...unscanned.map(({ path, reason }) => style.yellow(safeLine(`    not scanned: ${path} (${reason})`))),
  ];
}

function leftOutLines(leftOut: readonly LeftOut[], style: Style): readonly string[] {
  return leftOut.map(({ path, reason }) => style.dim(safeLine(`    left out: ${path} (${reason})`)));
}
