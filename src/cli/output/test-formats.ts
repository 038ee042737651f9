/** What came of tests: a line for each case and a summary for people, JUnit XML for build servers. */
import { relative } from "node:path";
import { escapeXml } from "../../disclose/escape-xml.ts";
import type { CaseResult, TestReport } from "../../testing/run-skill-tests.ts";
import { count, type Style, safeLine, safeText } from "./style.ts";

export function testText(report: TestReport, cwd: string, style: Style): string {
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

/** Each once, however many cases of a skill have it. */
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
    return `None of ${count(filtered, "case")} fits the filter, which is looked for in the names of cases and of skills.`;
  }
  const hint = "A test is a file `tests/<name>.test.yaml` beside the skill's `SKILL.md`.";
  return `No test was found.${untestedText(report)} ${hint}`;
}

const MOST_NAMES = 10;

function untestedText({ untested }: TestReport): string {
  if (untested.length === 0) return "";
  const more = untested.length - MOST_NAMES;
  const names = untested.slice(0, MOST_NAMES).map(safeLine).join(", ");
  return ` Without tests: ${names}${more > 0 ? ` and ${more} more` : ""}.`;
}

export function junitReport({ cases, failed }: TestReport, cwd: string): string {
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

/** Also as content; a line end in an attribute would be read as a blank. */
function attribute(text: string): string {
  return escapeXml(safeText(text)).replaceAll('"', "&quot;").replaceAll("\n", "&#10;");
}
