/** `metier publish` and `metier pack`: skills leave this machine as files, checked before. `metier compat`: who can read them. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { EXIT, MetierError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { safeLine } from "@metier/base/text";
import type {
  ClientReport,
  CompatibilityReport,
  CompatRemark,
  LeftOut,
  PackedSkill,
  PackReport,
  PublishFault,
  PublishReport,
  RefusedSkill,
  RewrittenSkill,
  SkillCompatibility,
} from "@metier/install/publish";
import type { CompatFlags } from "../commands/authoring.ts";
import type { PackFlags, PublishFlags } from "../commands/connecting.ts";
import type { Action, CommonFlags } from "../commands/define.ts";
import { type CliContext, endWith, err, reply } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics.ts";
import { worthText } from "../output/install-text.ts";
import { findingText } from "../output/review-text.ts";
import { alignColumns, count, type Style, styleFor } from "../output/style.ts";

export const publishAction: Action<PublishFlags> = async (context, flags, ...skills) => {
  const { wellKnown: folder, baseUrl, profile, force, dryRun } = flags;
  if (folder === undefined) {
    throw new UsageError("Where to is missing.", {
      hint: "Name the folder of the site with `--well-known <dir>`.",
    });
  }
  const metier = await openMetier(context, flags);
  const { publishSkills } = await import("@metier/install/publish");
  const cwd = workingDirectory(context, flags);
  const outcome = await publishSkills(metier, { skills, folder, baseUrl, profile, cwd, force, dryRun });
  if (!outcome.ok) throw refuse(context, flags, outcome.fault);
  const { ok: _, ...report } = outcome;
  reply(context, flags, report, (style) => publishedText(outcome, dryRun, style));
};

export const packAction: Action<PackFlags> = async (context, flags, ...skills) => {
  const { output, manifest, mcp, author, keyword } = flags;
  if (output === undefined) {
    throw new UsageError("Where to is missing.", {
      hint: "Name a folder or a `.tar.gz` file with `-o <path>`.",
    });
  }
  const metier = await openMetier(context, flags);
  // One statement a file, so that a bundle opens the door for these alone.
  const { packPlugin } = await import("@metier/install/publish");
  const { readAuthor } = await import("@metier/install/publish");
  const { name, version, description, homepage, repository, license, force } = flags;
  const outcome = await packPlugin(metier, {
    ...{ name, version, description, homepage, repository, license, force, skills, output },
    manifestFile: manifest,
    mcpFile: mcp,
    author: author === undefined ? undefined : readAuthor(author),
    profile: flags.profile,
    keywords: keyword && keyword.length > 0 ? keyword : undefined,
    cwd: workingDirectory(context, flags),
  });
  if (!outcome.ok) throw refuse(context, flags, outcome.fault);
  const { ok: _, ...report } = outcome;
  reply(context, flags, report, (style) => packedText(outcome, style));
};

/** What is wrong with each skill is said before the error that ends the command. */
function refuse(context: CliContext, { json }: CommonFlags, fault: PublishFault): PublishError {
  if (!json) err(context, refusedText(fault, styleFor(context.io.color)));
  return new PublishError(fault);
}

export const compatAction: Action<CompatFlags> = async (context, flags, ...skills) => {
  const metier = await openMetier(context, flags);
  const { checkCompatibility } = await import("@metier/install/publish");
  const clients = flags.client?.length ? flags.client : undefined;
  const checked = await checkCompatibility(metier, skills, {
    ...presentFields({ clients }),
    fix: flags.fix,
    cwd: workingDirectory(context, flags),
  });
  const report = clients === undefined ? withoutRare(checked) : checked;
  reply(context, flags, report, (style) => compatText(report, style));
  if (!report.works) endWith(context, EXIT.no);
};

/** Clients that few people use are told of when someone names them. */
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
      style.yellow(safeLine(`${file} of an earlier publish was changed since; it stays.`)),
    ),
    ...(removed.length > 0
      ? [style.dim(`${count(removed.length, "file")} of an earlier publish removed.`)]
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
    safeLine(`Plugin ${plugin.name}${version} with ${count(skills.length, "skill")}${more} is at ${path}.`),
  ].join("\n");
}

/** Everything about each skill that must not be published. */
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

function compatText({ skills, fixed, diagnostics }: CompatibilityReport, style: Style): string {
  return [
    ...diagnostics.map((each) => diagnosticText(each, style)),
    ...fixed.map((each) => rewrittenText(each, style)),
    ...skills.map((skill) => skillText(skill, style)),
  ].join("\n");
}

function rewrittenText({ path, repairs, diff }: RewrittenSkill, style: Style): string {
  return [
    `${style.green("fixed")}  ${safeLine(path)}`,
    ...repairs.map((repair) => `  ${safeLine(repair)}`),
    ...diff.map((line) => (line.startsWith("+") ? style.green : style.red)(`    ${safeLine(line)}`)),
    "",
  ].join("\n");
}

function skillText({ name, path, clients }: SkillCompatibility, style: Style): string {
  const working = clients.filter(({ works }) => works).length;
  const ending = `works in ${working} of ${count(clients.length, "client")}.`;
  return [
    `${style.bold(safeLine(name))}  ${style.dim(safeLine(path))}`,
    "",
    ...tableLines(clients, style),
    "",
    ...remarkLines(clients, ({ breaks }) => breaks, style.red("breaks")),
    ...remarkLines(clients, ({ notes }) => notes, style.cyan("note")),
    safeLine(`${name} ${ending}`),
    "",
  ].join("\n");
}

const HEADINGS = ["", "client", "seen in", "honoured", "ignored"] as const;

function tableLines(clients: readonly ClientReport[], style: Style): readonly string[] {
  const rows = clients.map(({ works, client, seen, basis, honoured, ignored }) => [
    works ? "✓" : "✗",
    client,
    basis === "documentation" ? `${seen} (documentation)` : seen,
    listed(honoured),
    listed(ignored),
  ]);
  const [head = "", ...lines] = alignColumns([HEADINGS, ...rows]).map((cells) =>
    `  ${cells.join("  ")}`.trimEnd(),
  );
  return [
    style.dim(head),
    ...lines.map((line, index) => {
      const isWorking = clients[index]?.works ?? false;
      return line.replace(/[✓✗]/, (mark) => (isWorking ? style.green(mark) : style.red(mark)));
    }),
  ];
}

function listed(keys: readonly string[]): string {
  return keys.length === 0 ? "–" : safeLine(keys.join(", "));
}

/** The same remark of several clients is one line. */
function remarkLines(
  clients: readonly ClientReport[],
  pick: (report: ClientReport) => readonly CompatRemark[],
  label: string,
): readonly string[] {
  const said = new Map<string, string[]>();
  for (const report of clients) {
    for (const { about, message } of pick(report)) {
      const text = `${about}: ${message}`;
      said.set(text, [...(said.get(text) ?? []), report.client]);
    }
  }
  return [...said].flatMap(([text, ids]) => [`${label}  ${safeLine(text)}`, `    in ${ids.join(", ")}`]);
}
