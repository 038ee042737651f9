/** `metier find` and `metier match`: the right skill for a request. */
import { UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { cutText, safeLine, styleFor } from "../output/style.ts";

interface FindFlags {
  readonly number?: string;
}

export async function runFind(
  context: CliContext,
  flags: FindFlags & CommonFlags,
  ...words: readonly string[]
): Promise<void> {
  const most = parseNumber(flags.number);
  const metier = await openMetier(context, flags);
  const hits = await metier.find(words.join(" "), most);
  if (hits.length === 0) endWith(context, EXIT.no);
  if (flags.json) outJson(context, hits);
  else if (hits.length === 0)
    err(context, "No usable skill fits these words; `metier list` shows all of them.");
  else {
    const style = styleFor(context.io.color);
    out(
      context,
      hits
        .map(({ name, score }) => {
          const description = cutText(metier.get(name)?.description ?? "", 70);
          return `${score.toFixed(1).padStart(6)}  ${style.bold(safeLine(name))}  ${style.dim(description)}`;
        })
        .join("\n"),
    );
  }
}

export async function runMatch(
  context: CliContext,
  flags: CommonFlags,
  ...words: readonly string[]
): Promise<void> {
  const metier = await openMetier(context, flags);
  const { matches, diagnostics } = await metier.matchTriggers(words.join(" "));
  if (matches.length === 0) endWith(context, EXIT.no);
  if (flags.json) {
    outJson(context, {
      matches: matches.map(({ skill, reasons }) => ({ name: skill.name, location: skill.location, reasons })),
      diagnostics,
    });
    return;
  }
  const style = styleFor(context.io.color);
  if (matches.length === 0) err(context, "No trigger fits.");
  for (const { skill, reasons } of matches) {
    const why = reasons.map(({ kind, trigger }) => `${kind} \`${trigger}\``).join(", ");
    out(context, safeLine(`${skill.name}  ${why}`));
  }
  err(context, diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
}

function parseNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`\`-k ${text}\` is not a number of skills.`, { hint: "Use a whole number from 1." });
}
