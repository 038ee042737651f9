/**
 * `metier publish` and `metier pack` check skills and write them for others. `metier compat` shows which clients can
 * read them.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { EXIT, MetierError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { safeLine } from "@metier/base/text";
import type {
  CompatibilityReport,
  LeftOut,
  PackedSkill,
  PackReport,
  PublishFault,
  PublishReport,
  RefusedSkill,
} from "@metier/install/publish";
import type { CompatFlags } from "../commands/authoring.ts";
import type { PackFlags, PublishFlags } from "../commands/connecting.ts";
import type { Action, CommonFlags } from "../commands/define.ts";
import { type CliContext, endWith, err, reply } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { compatText } from "../output/compat-text.ts";
import { diagnosticText } from "../output/diagnostics.ts";
import { worthText } from "../output/install-text.ts";
import { createProgressLine, type ProgressView } from "../output/progress.ts";
import { findingText } from "../output/review-text.ts";
import { count, type Style, styleFor } from "../output/style.ts";

export const publishAction: Action<PublishFlags> = async (context, flags, ...skills) => {
  const { wellKnown: folder, baseUrl, profile, force, dryRun } = flags;
  if (folder === undefined) {
    throw new UsageError("Missing output folder.", {
      hint: "Pass the site's root folder with `--well-known <dir>`.",
    });
  }
  const metier = await openMetier(context, flags);
  const { publishSkills } = await import("@metier/install/publish");
  const cwd = workingDirectory(context, flags);
  const outcome = await withProgress(context, (onProgress) =>
    publishSkills(metier, { skills, folder, baseUrl, profile, cwd, force, dryRun, onProgress }),
  );
  if (!outcome.ok) throw refuse(context, flags, outcome.fault);
  const { ok: _, ...report } = outcome;
  reply(context, flags, report, (style) => publishedText(outcome, dryRun, style));
};

export const packAction: Action<PackFlags> = async (context, flags, ...skills) => {
  const { output, manifest, mcp, author, keyword } = flags;
  if (output === undefined) {
    throw new UsageError("Missing output path.", {
      hint: "Pass a folder or a `.tar.gz` file with `-o <path>`.",
    });
  }
  const metier = await openMetier(context, flags);
  // One statement per file, so that a bundle loads only these.
  const { packPlugin } = await import("@metier/install/publish");
  const { readAuthor } = await import("@metier/install/publish");
  const { name, version, description, homepage, repository, license, force } = flags;
  const options = {
    ...{ name, version, description, homepage, repository, license, force, skills, output },
    manifestFile: manifest,
    mcpFile: mcp,
    author: author === undefined ? undefined : readAuthor(author),
    profile: flags.profile,
    keywords: keyword && keyword.length > 0 ? keyword : undefined,
    cwd: workingDirectory(context, flags),
  };
  const outcome = await withProgress(context, (onProgress) => packPlugin(metier, { ...options, onProgress }));
  if (!outcome.ok) throw refuse(context, flags, outcome.fault);
  const { ok: _, ...report } = outcome;
  reply(context, flags, report, (style) => packedText(outcome, style));
};

function withProgress<Value>(
  { io }: CliContext,
  work: (show: ProgressView["show"]) => Promise<Value>,
): Promise<Value> {
  const progress = createProgressLine(io.stderr);
  return work(progress.show).finally(progress.end);
}

/** Reports the problems of each skill before the error that ends the command. */
function refuse(context: CliContext, { json }: CommonFlags, fault: PublishFault): PublishError {
  if (!json) err(context, refusedText(fault, styleFor(context.io.color)));
  return new PublishError(fault);
}

export const compatAction: Action<CompatFlags> = async (context, flags, ...skills) => {
  const metier = await openMetier(context, flags);
  const { checkCompatibility } = await import("@metier/install/publish");
  const clients = flags.client?.length ? flags.client : undefined;
  const options = { ...presentFields({ clients }), fix: flags.fix, cwd: workingDirectory(context, flags) };
  const checked = await withProgress(context, (onProgress) =>
    checkCompatibility(metier, skills, { ...options, onProgress }),
  );
  const report = clients === undefined ? withoutRare(checked) : checked;
  reply(context, flags, report, (style) => compatText(report, style));
  if (!report.works) endWith(context, EXIT.no);
};

/** Rarely used clients are checked only when named. */
function withoutRare(report: CompatibilityReport): CompatibilityReport {
  const skills = report.skills.map((skill) => ({
    ...skill,
    clients: skill.clients.filter(({ isRare }) => !isRare),
  }));
  return { ...report, skills };
}

class PublishError extends MetierError {
  readonly refused?: readonly RefusedSkill[];
  readonly diagnostics?: readonly Diagnostic[];

  constructor({ code, message, hint, refused, diagnostics }: PublishFault) {
    super(code, message, { hint });
    if (refused.length > 0) this.refused = refused;
    if (diagnostics.length > 0) this.diagnostics = diagnostics;
  }
}

function publishedText(report: PublishReport, dryRun: boolean, style: Style): string {
  const { skills, index, removed, kept, diagnostics } = report;
  const lines = skills.flatMap((skill) => [
    `${style.green("✓")} ${safeLine(`${skill.name}  ${skill.type}  ${skill.url}  ${count(skill.size, "byte")}`)}`,
    ...detailLines(skill, style),
  ]);
  return [
    ...worthText(diagnostics, style),
    ...lines,
    ...kept.map((file) =>
      style.yellow(safeLine(`Kept ${file} from an earlier publish: it has changed since.`)),
    ),
    ...(removed.length > 0
      ? [style.dim(`Removed ${count(removed.length, "file")} from an earlier publish.`)]
      : []),
    safeLine(`${count(skills.length, "skill")} ${dryRun ? "would be listed" : "listed"} in ${index}.`),
  ].join("\n");
}

function packedText({ skills, path, plugin, servers, diagnostics }: PackReport, style: Style): string {
  const version = plugin.version === undefined ? "" : ` ${plugin.version}`;
  const more = servers.length > 0 ? ` and ${count(servers.length, "MCP server")}` : "";
  return [
    ...worthText(diagnostics, style),
    ...skills.flatMap((skill) => [
      `${style.green("✓")} ${safeLine(skill.name)}`,
      ...detailLines(skill, style),
    ]),
    safeLine(
      `Wrote plugin ${plugin.name}${version} with ${count(skills.length, "skill")}${more} to ${path}.`,
    ),
  ].join("\n");
}

/** Everything that stops each skill from being published. */
function refusedText({ refused, diagnostics }: PublishFault, style: Style): string {
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

/** Under a published skill: what was left out, and what needs a look. */
function detailLines({ name, leftOut, findings, unscanned }: PackedSkill, style: Style): readonly string[] {
  const found = `${count(findings.length, "scan finding")}; \`metier scan\` shows ${findings.length === 1 ? "it" : "them"}`;
  return [
    ...leftOutLines(leftOut, style),
    ...(findings.length > 0 ? [style.yellow(safeLine(`    ${name}: ${found}.`))] : []),
    ...unscanned.map(({ path, reason }) => style.yellow(safeLine(`    not scanned: ${path} (${reason})`))),
  ];
}

function leftOutLines(leftOut: readonly LeftOut[], style: Style): readonly string[] {
  return leftOut.map(({ path, reason }) => style.dim(safeLine(`    left out: ${path} (${reason})`)));
}
