/** `metier prompt`: tier 1 as text, within a budget if there is one. */
import { loadTokenCounter } from "../../disclose/count-tokens.ts";
import type { Activation, ListingFormatName, ListingOptions, LocationStyle } from "../../disclose/listing.ts";
import { MINIMUM_BUDGET } from "../../disclose/plan-listing.ts";
import { UsageError } from "../../foundation/errors.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { count } from "../output/style.ts";

interface PromptFlags {
  readonly format: ListingFormatName;
  readonly location?: LocationStyle;
  readonly mountPath?: string;
  readonly activation: Activation;
  readonly budget?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

export async function run(context: CliContext, flags: PromptFlags & CommonFlags): Promise<void> {
  const { format, location, mountPath, activation, allow, deny } = flags;
  const metier = await openMetier(context, flags, { ...(allow && { allow }), ...(deny && { deny }) });
  const options: ListingOptions = {
    format,
    activation,
    ...(location && { location }),
    ...(mountPath !== undefined && { mountPath }),
  };
  if (flags.budget === undefined) {
    const text = metier.renderListing(options);
    if (flags.json) outJson(context, { text });
    else out(context, text);
    return;
  }
  const budget = parseBudget(flags.budget);
  const { text, report } = metier.planListing({ ...options, budget, countTokens: await loadTokenCounter() });
  if (flags.json) outJson(context, { text, report });
  else {
    out(context, text);
    const { full, shortened, nameOnly, counted, tokens, fits } = report;
    err(
      context,
      `${count(tokens, "token")} of ${budget}: ${full.length} full, ${shortened.length} shortened, ${nameOnly.length} by name, ${counted.length} counted.`,
    );
    if (!fits) {
      err(
        context,
        `That is above the budget: ${MINIMUM_BUDGET} tokens are always enough to count the skills.`,
      );
    }
  }
}

function parseBudget(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`\`--budget ${text}\` is not a number of tokens.`, {
    hint: "Use a whole number from 1, as in `--budget 4000`.",
  });
}
