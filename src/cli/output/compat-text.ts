/** How other clients read skills, for people: one row a client, then what breaks and what to know, each said once. */
import type { ClientReport, CompatRemark, SkillCompatibility } from "../../publish/compat/check-compat.ts";
import type { CompatibilityReport, RewrittenSkill } from "../../publish/compat/compatibility.ts";
import { diagnosticText } from "./diagnostics-text.ts";
import { count, type Style, safeLine } from "./style.ts";

export function compatText({ skills, fixed, diagnostics }: CompatibilityReport, style: Style): string {
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
    ...(clients.some(({ isRare }) => isRare) ? [style.dim(RARE)] : []),
    safeLine(`${name} ${ending}`),
    "",
  ].join("\n");
}

const RARE = "* Few use it: what breaks there counts only when `--client` names it.";
const HEADINGS = ["", "client", "seen in", "honoured", "ignored"] as const;

function tableLines(clients: readonly ClientReport[], style: Style): readonly string[] {
  const rows = clients.map(({ works, client, isRare, seen, basis, honoured, ignored }) => [
    works ? "✓" : "✗",
    isRare ? `${client} *` : client,
    basis === "documentation" ? `${seen} (documentation)` : seen,
    listed(honoured),
    listed(ignored),
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd();
  return [
    style.dim(line(HEADINGS)),
    ...rows.map((row, index) => {
      const isWorking = clients[index]?.works ?? false;
      return line(row).replace(/[✓✗]/, (mark) => (isWorking ? style.green(mark) : style.red(mark)));
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
