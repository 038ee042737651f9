/** A cost limit on a model whose price nobody told. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import type { RunLimits } from "./run-limits.ts";

/** A limit that cannot hold must not look as if it did. */
export function reportUnpriced(
  { maxCost }: RunLimits,
  { id, alias = "<alias>", pricing }: Pick<ResolvedModel, "id" | "alias" | "pricing">,
): readonly Diagnostic[] {
  if (maxCost === undefined || pricing !== undefined) return [];
  return [
    {
      code: "model.no-price",
      severity: "warning",
      path: `models.${alias}`,
      message: `The run may cost at most ${maxCost}, but \`${id}\` has no price, so its cost is not limited.`,
      hint: `Set \`input-price\` and \`output-price\` under \`[models.${alias}]\`, or limit tokens.`,
    },
  ];
}
