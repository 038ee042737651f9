/**
 * Wraps tools that have an `execute` (AI SDK, Mastra) so that they check their calls first; nothing else about them
 * changes.
 */
import type { SkillOffer, ToolGuard } from "@metier/run";

type Execute = (this: unknown, input: unknown, ...rest: readonly unknown[]) => unknown;

interface Executable {
  readonly execute: Execute;
}

/** Tools without `execute` run elsewhere, in a client or at a provider: they can only be removed as a whole. */
export function guardTools<Tools extends Readonly<Record<string, object>>>(
  offer: Pick<SkillOffer, "guard">,
  tools: Tools,
): Tools {
  const guard = offer.guard(Object.keys(tools).filter((name) => isExecutable(tools[name])));
  const guarded = Object.entries(tools).map(([name, tool]) => [name, guardTool(name, tool, guard)]);
  return Object.fromEntries(guarded) as Tools;
}

export function guardTool(name: string, tool: object, guard: ToolGuard): object {
  if (!isExecutable(tool)) return tool;
  const { execute } = tool;
  const held = async (input: unknown, rest: readonly unknown[]): Promise<unknown> => {
    const why = await guard.whyNot(name, input);
    // These hosts pass what a tool throws to the model.
    if (why !== undefined) throw new Error(why);
    return settle(await execute.call(tool, input, ...rest));
  };
  const guarded: Execute = (input, ...rest) =>
    // The result may be a stream, which a promise would hide: only where calls are checked is it reduced to its last
    // part.
    guard.isHeld(name) ? held(input, rest) : execute.call(tool, input, ...rest);
  // Some hosts recognize a tool by its prototype.
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute: guarded });
}

function isExecutable(tool: unknown): tool is Executable {
  return typeof (tool as Partial<Executable> | undefined)?.execute === "function";
}

/** For a tool that answers in parts, the last part counts. */
async function settle(answer: unknown): Promise<unknown> {
  if (typeof answer !== "object" || answer === null || !(Symbol.asyncIterator in answer)) return answer;
  let last: unknown;
  for await (const part of answer as AsyncIterable<unknown>) last = part;
  return last;
}
