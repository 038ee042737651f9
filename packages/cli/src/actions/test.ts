/** `metier test`: runs the cases next to skills and reports them as text, JSON, or JUnit XML for build servers. */
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { EXIT, SkillError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { isInside, realPathOr } from "@metier/base/places";
import { safeLine, safeText } from "@metier/base/text";
import { type Metier, pathRefusal } from "@metier/runtime";
import type { CaseResult, TestReport } from "@metier/runtime/testing";
import { escapeXml, type Skill, trustOnUse } from "@metier/skills";
import type { Config } from "@metier/skills/config";
import type { TestFlags } from "../commands/authoring.ts";
import type { Action } from "../commands/define.ts";
import { type CliContext, endWith, err, reply, withInterrupt } from "../context.ts";
import { askForTrust, openSilently, tellUnusablePaths, workingDirectory } from "../open-metier.ts";
import { diagnosticsText } from "../output/diagnostics.ts";
import { count, type Style, styleFor } from "../output/style.ts";

export const testAction: Action<TestFlags> = async (context, flags, ...asked) => {
  const cwd = workingDirectory(context, flags);
  const isPath = (text: string): boolean => existsSync(resolve(cwd, text)) || /[/\\]/.test(text);
  const paths = (asked.length > 0 ? asked.filter(isPath) : ["."]).map((path) => resolve(cwd, path));
  const opened = await openSilently(context, { ...flags, path: [...(flags.path ?? []), ...paths] });
  tellUnusablePaths(context, flags, opened);
  const metier = await askForTrust(context, flags, opened);
  const names = asked.filter((text) => !isPath(text)).map((name) => requireFile(metier.require(name)));
  const skills = [...names, ...paths.flatMap((path) => skillsBelow(metier, path))];
  const report = await testAll(context, flags, metier, [...new Set(skills)]);
  const faults = metier.diagnostics().filter((entry) => isFaultBelow(entry, paths));
  const json = flags.json || flags.format === "json";
  const text = (style: Style): string =>
    flags.format === "junit" ? junitReport(report, cwd) : testText(report, cwd, style);
  if (!json) err(context, diagnosticsText(faults, styleFor(context.io.color)));
  reply(context, { json }, { ...report, diagnostics: faults }, text);
  if (report.failed > 0 || report.cases.length === 0 || faults.length > 0) endWith(context, EXIT.no);
};

/** Only this command loads the code that runs tests. */
async function testAll(
  context: CliContext,
  flags: TestFlags,
  metier: Metier,
  skills: readonly Skill[],
): Promise<TestReport> {
  const { runSkillTests } = await import("@metier/runtime/testing");
  const { filter, approve } = flags;
  const { grants, roots, config: loaded } = metier;
  const trustNow = trustOnUse(roots, { config: loaded.config, grants, embedding: "command-line" });
  const tested = skills.map((skill) => {
    const { level, reason } = trustNow(skill).trust;
    return { ...skill, trust: level, trustReason: reason };
  });
  const options = {
    config: rulesOf(loaded.config),
    environment: context.io.environment,
    ...presentFields({ approve: approve ? ("all" as const) : undefined, filter }),
  };
  return withInterrupt(context, (signal) => {
    signal.addEventListener("abort", () => endWith(context, EXIT.cancelled));
    return runSkillTests(tested, { ...options, signal });
  });
}

/** The parts of the user's config that limit a run, but nothing that widens its reach. */
function rulesOf({ sandbox, tools, runs, scan }: Config): Readonly<Record<string, unknown>> {
  return { sandbox: { ...sandbox, network: [], read: [], write: [] }, tools, runs, scan };
}

function requireFile(skill: Skill): Skill {
  if (skill.location !== "") return skill;
  throw new UsageError(`Skill \`${skill.name}\` has no file, so it has no tests next to it.`);
}

function skillsBelow({ catalog }: Metier, path: string): readonly Skill[] {
  const real = realPathOr(path);
  const below = catalog.all.filter(({ location }) => location !== "" && isInside(realPathOr(location), real));
  if (below.length > 0) return below;
  const isFaulty = !existsSync(path) || catalog.diagnostics.some((entry) => isFaultBelow(entry, [path]));
  if (isFaulty) throw pathRefusal(catalog, path);
  throw new SkillError(`No skill found in \`${path}\`.`, "skill.not_found", {
    hint: "Pass a folder with a `SKILL.md`, or a folder of skills.",
  });
}

/** A skill that can't be loaded can't be tested, and that must not look like success. */
function isFaultBelow({ severity, path }: Diagnostic, paths: readonly string[]): boolean {
  return severity === "error" && paths.some((folder) => isInside(path, folder));
}

function testText(report: TestReport, cwd: string, style: Style): string {
  const { passed, failed, cases } = report;
  const skills = Map.groupBy(cases, ({ skill }) => skill);
  const groups = [...skills].map(([skill, results]) =>
    [style.bold(safeLine(skill)), ...results.map((result) => caseText(result, cwd, style))].join("\n"),
  );
  if (cases.length === 0) return noTestText(report);
  const verdict = failed > 0 ? style.red(`${failed} failed`) : style.green("all passed");
  const numbers = `${passed} of ${count(cases.length, "case")} of ${count(skills.size, "skill")}`;
  const ending = `${verdict}: ${numbers} passed.${untestedText(report)}`;
  return [...groups, "", ending, ...hintLines(cases)].join("\n");
}

/** Each once, even if several cases of a skill report it. */
function hintLines(cases: readonly CaseResult[]): readonly string[] {
  const hints = new Set(cases.flatMap(({ hint }) => hint ?? []));
  return [...hints].map((hint) => `  → ${safeLine(hint)}`);
}

function caseText({ name, file, line, passed, problems }: CaseResult, cwd: string, style: Style): string {
  const mark = passed ? style.green("✓") : style.red("✗");
  const where = style.dim(`${safeLine(relative(cwd, file))}:${line}`);
  const details = problems.map((problem) => safeText(problem).replace(/^/gm, "      "));
  return [`  ${mark} ${safeLine(name)}  ${where}`, ...details].join("\n");
}

function noTestText(report: TestReport): string {
  const { filtered } = report;
  if (filtered > 0) {
    return `None of ${count(filtered, "case")} matches the filter, which checks the names of cases and skills.`;
  }
  const hint = "A test is a file `tests/<name>.test.yaml` next to the skill's `SKILL.md`.";
  return `No tests found.${untestedText(report)} ${hint}`;
}

const MOST_NAMES = 10;

function untestedText({ untested }: TestReport): string {
  if (untested.length === 0) return "";
  const more = untested.length - MOST_NAMES;
  const names = untested.slice(0, MOST_NAMES).map(safeLine).join(", ");
  return ` Without tests: ${names}${more > 0 ? ` and ${more} more` : ""}.`;
}

function junitReport({ cases, failed }: TestReport, cwd: string): string {
  const suites = [...Map.groupBy(cases, ({ skill }) => skill)].map(([skill, results]) => {
    const failures = results.filter(({ passed }) => !passed).length;
    const tests = results.map((result) => junitCase(result, cwd)).join("\n");
    return `  <testsuite name="${attribute(skill)}" tests="${results.length}" failures="${failures}">\n${tests}\n  </testsuite>`;
  });
  const head = `<testsuites name="metier test" tests="${cases.length}" failures="${failed}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, "</testsuites>"].join("\n");
}

function junitCase({ skill, name, file, line, problems, hint, durationMs }: CaseResult, cwd: string): string {
  const attributes = [
    `name="${attribute(name)}"`,
    `classname="${attribute(skill)}"`,
    `file="${attribute(relative(cwd, file))}"`,
    `line="${line}"`,
    `time="${durationMs / 1000}"`,
  ].join(" ");
  if (problems.length === 0) return `    <testcase ${attributes}/>`;
  const text = [...problems, ...(hint === undefined ? [] : [hint])].map(attribute).join("\n");
  return `    <testcase ${attributes}>\n      <failure message="${attribute(problems[0] ?? "")}">${text}</failure>\n    </testcase>`;
}

/** Also for content; a line break in an attribute would be read as a space. */
function attribute(text: string): string {
  return escapeXml(safeText(text)).replaceAll('"', "&quot;").replaceAll("\n", "&#10;");
}
