/**
 * How other clients read skills: a table for each skill. For many skills, only those that break somewhere, and a count
 * of the others.
 */
import { safeLine } from "@metier/base/text";
import type {
  ClientReport,
  CompatibilityReport,
  CompatRemark,
  RewrittenSkill,
  SkillCompatibility,
} from "@metier/install/publish";
import { diagnosticText } from "./diagnostics.ts";
import { alignColumns, count, type Style } from "./style.ts";

/** Above this number of skills, only those that break somewhere are shown in full. */
const EACH_UP_TO = 20;

export function compatText({ skills, fixed, diagnostics }: CompatibilityReport, style: Style): string {
  const broken = skills.filter(({ clients }) => clients.some(({ works }) => !works));
  const isMany = skills.length > EACH_UP_TO;
  return [
    ...diagnostics.map((each) => diagnosticText(each, style)),
    ...fixed.map((each) => rewrittenText(each, style)),
    ...(isMany ? broken : skills).map((skill) => skillText(skill, style)),
    ...(isMany ? [manyText(skills.length - broken.length, skills.length)] : []),
  ].join("\n");
}

function manyText(working: number, all: number): string {
  return `${working} of ${count(all, "skill")} work in every client. \`metier compat <skill>\` shows one in full.`;
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

/** Merges the same remark from several clients into one line. */
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
