/** A tool as every stage knows it: plain data and one function that never throws. Adapters turn it into what a host wants. */
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { World } from "../sandbox/world.ts";
import type { RedactionStream } from "../secrets/redaction.ts";
import type { Json } from "../skill/manifest.ts";

/** What a call does to the world; the built-in answer of the tool policy follows from it. */
export type ToolEffect = "read" | "write" | "execute" | "network" | "skill" | "talk";

export type ToolInput = Readonly<Record<string, Json>>;

export interface ToolOutput {
  readonly text: string;
  readonly isError: boolean;
}

/** What a tool is given for one call inside a run. */
export interface ToolContext {
  readonly callId: string;
  readonly world: World;
  /** Absent where no sandbox holds here: then nothing is executed. */
  readonly sandbox?: Sandbox;
  /** Of the run's processes, and of them alone. */
  readonly env: Readonly<Record<string, string>>;
  /** The command as literal words, when a scoped pattern allowed it: it is executed without a shell. */
  readonly argv?: readonly string[];
  /** Granted domains; none means no network. */
  readonly network: readonly string[];
  readonly signal: AbortSignal;
  /** Takes secrets out of what a tool itself writes or cuts as it comes; answers are redacted by the run anyway. */
  redactStream?(): RedactionStream;
}

export interface Tool<Context = ToolContext> {
  /** `[a-z][a-z0-9_]*`; that of a skill's own tool is made by `own-tools.ts`. */
  readonly name: string;
  /** How people and policies name a skill's own tool: `pdf:extract`. Default: `name`. */
  readonly id?: string;
  readonly description: string;
  /** JSON Schema of the input, `type: object`; checked before `execute`. */
  readonly inputSchema: Readonly<Record<string, Json>>;
  readonly effect: ToolEffect;
  /** Never throws: a fault is an answer with `isError`, in words the model can act on. */
  execute(input: ToolInput, context: Context): Promise<ToolOutput>;
}

export function toolId({ id, name }: Pick<Tool, "id" | "name">): string {
  return id ?? name;
}

export function answer(text: string): ToolOutput {
  return { text, isError: false };
}

export function fault(text: string): ToolOutput {
  return { text, isError: true };
}
