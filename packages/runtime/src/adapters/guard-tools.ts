/** Tools with an `execute` (AI SDK, Mastra) that look at their calls first; everything else of them is as it was. */
import type { SkillOffer, ToolGuard } from "@metier/run";

type Execute = (this: unknown, input: unknown, ...rest: readonly unknown[]) => unknown;

interface Executable {
  readonly execute: Execute;
}

/** Tools without `execute` are carried out elsewhere, by a client or by a provider: they can be taken away as a whole. */
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
    // These hosts tell the model what a tool threw.
    if (why !== undefined) throw new Error(why);
    return settle(await execute.call(tool, input, ...rest));
  };
  const guarded: Execute = (input, ...rest) =>
    // What it answers with may be a stream, which a promise would hide: only where a call is looked at, its last part.
    guard.isHeld(name) ? held(input, rest) : execute.call(tool, input, ...rest);
  // Its prototype says to some hosts what it is.
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute: guarded });
}

function isExecutable(tool: unknown): tool is Executable {
  return typeof (tool as Partial<Executable> | undefined)?.execute === "function";
}

/** Of a tool that answers in parts, the last one counts. */
async function settle(answer: unknown): Promise<unknown> {
  if (typeof answer !== "object" || answer === null || !(Symbol.asyncIterator in answer)) return answer;
  let last: unknown;
  for await (const part of answer as AsyncIterable<unknown>) last = part;
  return last;
}
