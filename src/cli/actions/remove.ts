/** `metier remove`: takes installed skills away, and says what was left. */
import type { RemoveOptions } from "../../install/remove.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { toError } from "../install/to-error.ts";
import { openMetier } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { safeLine, styleFor } from "../output/style.ts";

export async function run(
  context: CliContext,
  flags: CommonFlags & Required<RemoveOptions>,
  ...names: readonly string[]
): Promise<void> {
  const { project, force, data, json } = flags;
  const metier = await openMetier(context, flags);
  const outcome = await metier.remove(names, { project, force, data });
  if (!outcome.ok) throw toError(outcome.fault);
  const { removed, diagnostics } = outcome;
  if (json) {
    outJson(context, { removed, diagnostics });
    return;
  }
  const style = styleFor(context.io.color);
  out(context, removed.map(({ name }) => `${style.green("✓")} ${safeLine(name)} is removed.`).join("\n"));
  err(context, diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
}
