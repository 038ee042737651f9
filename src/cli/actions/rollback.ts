/** `metier rollback`: one skill, one step back. */
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { toError } from "../install/to-error.ts";
import { openMetier } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { createFetchProgress } from "../output/fetch-progress.ts";
import { safeLine, styleFor } from "../output/style.ts";
import { versionText } from "../output/update-text.ts";

export async function run(
  context: CliContext,
  flags: CommonFlags & { readonly project?: boolean; readonly force: boolean },
  skill: string,
): Promise<void> {
  const { project, force, json } = flags;
  const metier = await openMetier(context, flags);
  const progress = createFetchProgress(context.io.stderr);
  const outcome = await metier
    .rollback(skill, { force, ...(project !== undefined && { project }), onProgress: progress.show })
    .finally(progress.end);
  if (!outcome.ok) throw toError(outcome.fault);
  const { ok: _, ...result } = outcome;
  if (json) {
    outJson(context, result);
    return;
  }
  const { name, from, to, kept, diagnostics } = result;
  const style = styleFor(context.io.color);
  const trust = metier.get(`installed:${name}`)?.trust;
  const notes = [
    ...(trust?.level === "untrusted" ? [`untrusted: ${trust.reason}`] : []),
    ...kept.map((folder) => `what was changed by hand is kept in ${folder}`),
  ];
  const first = `${style.green("✓")} ${safeLine(name)} is back at ${versionText(to)}, from ${versionText(from)}`;
  out(context, [first, ...notes.map((note) => `    ${style.dim(safeLine(note))}`)].join("\n"));
  err(context, diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
}
