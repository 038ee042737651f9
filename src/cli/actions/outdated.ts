/** `metier outdated`: which installed skills have new versions, as a table. */
import { EXIT, type ExitCode } from "../../foundation/exit-codes.ts";
import type { OutdatedSkill } from "../../install/outdated.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, out, outJson } from "../context.ts";
import { toError } from "../install/to-error.ts";
import { openMetier } from "../open-metier.ts";
import { createFetchProgress } from "../output/fetch-progress.ts";
import { cutText, type Style, safeLine, styleFor } from "../output/style.ts";
import { versionText } from "../output/update-text.ts";

export async function run(
  context: CliContext,
  flags: CommonFlags & { readonly project?: boolean },
  ...skills: readonly string[]
): Promise<void> {
  const { io } = context;
  const metier = await openMetier(context, flags);
  const progress = createFetchProgress(io.stderr);
  const stop = new AbortController();
  const release = io.onInterrupt(() => stop.abort());
  const { project } = flags;
  const outcome = await metier
    .outdated({
      skills,
      ...(project !== undefined && { project }),
      signal: stop.signal,
      onProgress: progress.show,
    })
    .finally(() => {
      release();
      progress.end();
    });
  if (!outcome.ok) throw toError(outcome.fault);
  if (flags.json) outJson(context, { skills: outcome.skills });
  else out(context, tableText(outcome.skills, styleFor(io.color)));
  endWith(context, exitCodeOf(outcome.skills));
}

function exitCodeOf(skills: readonly OutdatedSkill[]): ExitCode {
  if (skills.some(({ status }) => status === "outdated" || status === "missing")) return EXIT.no;
  return skills.some(({ status }) => status === "failed") ? EXIT.failed : EXIT.done;
}

const WIDTH = 110;
const HEADS = ["skill", "status", "installed", "available"];

function tableText(skills: readonly OutdatedSkill[], style: Style): string {
  if (skills.length === 0) return "No skill is installed here.";
  const rows = skills.map(({ name, status, installed, available }) => [
    safeLine(name),
    status,
    versionText(installed),
    available ? versionText(available) : "",
  ]);
  const widths = HEADS.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const pad = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [
    style.dim(pad(HEADS)),
    ...skills.flatMap((skill, index) => {
      const line = pad(rows[index] ?? []);
      return [PAINTS[skill.status]?.(style)(line) ?? line, ...noteLines(skill, style)];
    }),
  ].join("\n");
}

const PAINTS: Readonly<Partial<Record<OutdatedSkill["status"], (style: Style) => (text: string) => string>>> =
  {
    outdated: ({ yellow }) => yellow,
    missing: ({ red }) => red,
    failed: ({ red }) => red,
  };

/** Only where there is something to do. */
function noteLines({ status, reason, hint }: OutdatedSkill, { dim }: Style): readonly string[] {
  if (status !== "outdated" && status !== "missing" && status !== "failed") return [];
  return [
    `    ${cutText(reason, WIDTH)}`,
    ...(hint === undefined ? [] : [`    ${dim(`→ ${safeLine(hint)}`)}`]),
  ];
}
