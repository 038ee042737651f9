/** `metier eval`, `metier eval triggers` and `metier eval routing`; the work is loaded when it is asked for. */
import type { CliContext } from "../context.ts";
import type { EvalFlags } from "../eval/eval-flags.ts";

export async function run(context: CliContext, flags: EvalFlags, ...words: readonly string[]): Promise<void> {
  const [first, ...rest] = words;
  if (first === "triggers") {
    const { runTriggers } = await import("../eval/triggers-action.ts");
    return runTriggers(context, flags, rest);
  }
  if (first === "routing") {
    const { runRouting } = await import("../eval/routing-action.ts");
    return runRouting(context, flags, rest);
  }
  const { runEvals } = await import("../eval/evals-action.ts");
  return runEvals(context, flags, words);
}
