/** `metier compat`: how other clients read a skill, as a table or as JSON. */
import { EXIT } from "../../foundation/exit-codes.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, out, outJson } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { compatText } from "../output/compat-text.ts";
import { styleFor } from "../output/style.ts";

interface CompatFlags extends CommonFlags {
  readonly client?: readonly string[];
  readonly fix: boolean;
}

export async function run(
  context: CliContext,
  flags: CompatFlags,
  ...skills: readonly string[]
): Promise<void> {
  const metier = await openMetier(context, flags);
  const { checkCompatibility } = await import("../../publish/compat/compatibility.ts");
  const report = await checkCompatibility(metier, skills, {
    ...(flags.client && flags.client.length > 0 && { clients: flags.client }),
    fix: flags.fix,
    cwd: workingDirectory(context, flags),
  });
  if (flags.json) outJson(context, report);
  else out(context, compatText(report, styleFor(context.io.color)));
  if (!report.works) endWith(context, EXIT.no);
}
