/**
 * Tools of an embedding program: plain objects, or `defineTool` with a schema of any library, whose `execute` is typed
 * by it. Either may return anything.
 */
import { UsageError } from "@metier/base/errors";
import type { Result } from "@metier/base/result";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { nearestNames, showNames, showValue } from "@metier/base/text";
import { type GivenSchema, readSchema, type SchemaOutput } from "./given-schema.ts";
import { readAnswer, readThrown } from "./read-answer.ts";
import {
  type AcceptedTool,
  checkProgramTools,
  type Tool,
  type ToolContext,
  type ToolEffect,
  type ToolInput,
} from "./tool.ts";

/**
 * What a tool of the program does: `read` only looks, and is allowed; `write` changes something of the program's, and
 * `external` reaches other systems. The last two are asked about, unless the config or a trusted skill allows them.
 */
export type ProgramEffect = "read" | "write" | "external";

/** What `execute` is told of a call beside its input. */
export type ToolCallContext = Pick<
  ToolContext,
  "caller" | "runId" | "skill" | "callId" | "signal" | "env" | "log"
>;

/** What `defineTool` takes. */
export interface ToolDefinition<Schema extends GivenSchema = GivenSchema, Output = unknown> {
  /** `a-z`, `0-9` and `_`, a letter first. */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** Of an object: a Standard Schema (zod, valibot, arktype …) or a JSON Schema. */
  readonly input: Schema;
  /** What a call does; decides whether someone is asked first. */
  readonly effect: ProgramEffect;
  /** Does the work. What it returns is the answer to the model, what it throws an error for it. */
  readonly execute: (input: SchemaOutput<Schema>, context: ToolCallContext) => Output;
}

/** A tool that `defineTool` made, for `tools`. Its `execute` can be called by a test. */
export interface DefinedTool<Input = never, Output = unknown> {
  /** As models and the tool policy know it. */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** What the model is shown. */
  readonly inputSchema: Tool["inputSchema"];
  /** In the words of the tool policy. */
  readonly effect: ToolEffect;
  /** Holds what a model wrote to the schema: the value for `execute`, or what is wrong with it. */
  readonly readInput: (input: ToolInput) => Promise<Result<unknown, string>>;
  /** Does the work; the input has been read by `readInput`. */
  readonly execute: (input: Input, context: ToolCallContext) => Output;
}

/** A tool as a plain object. */
export interface PlainGivenTool extends Omit<Tool, "execute"> {
  /** Only tools of `defineTool` have it; the input of a plain one is held to its `inputSchema`. */
  readonly readInput?: undefined;
  /** May return anything, and may throw. */
  execute(input: ToolInput, context: ToolContext): unknown;
}

/** A tool of the embedding program, as `tools` takes it: what `defineTool` gives, or a plain object. */
export type GivenTool = DefinedTool | PlainGivenTool;

const EFFECTS: Readonly<Record<ProgramEffect, ToolEffect>> = {
  read: "read",
  write: "write",
  external: "network",
};

const KEYS: OptionKeys<ToolDefinition> = {
  name: true,
  description: true,
  input: true,
  effect: true,
  execute: true,
};

/**
 * A tool for the models of runs, typed by its schema. It knows who asks (`caller`), in which run (`runId`, `skill`), when
 * to end (`signal`), and can leave notes (`log`). It may return anything: a text, a value, nothing, bytes, a stream.
 *
 * @example
 * ```ts
 * const orders = defineTool({
 *   name: "find_orders",
 *   description: "Finds the orders of the customer who asks.",
 *   input: z.object({ since: z.iso.date() }),
 *   effect: "read",
 *   execute: ({ since }, { caller }) => database.orders(caller.userId, since),
 * });
 * const metier = await createMetier({ tools: [orders] });
 * ```
 *
 * @throws `UsageError` for a name, an effect or a schema that cannot be used.
 */
export function defineTool<const Schema extends GivenSchema, Output>(
  definition: ToolDefinition<Schema, Output>,
): DefinedTool<SchemaOutput<Schema>, Output> {
  if (definition === undefined) throw new UsageError("`defineTool` takes its definition as one object.");
  checkKeys("defineTool", definition, KEYS);
  const { name, description, input, effect, execute } = definition;
  checkProgramTools([{ name }]);
  if (typeof description !== "string" || description.trim() === "") {
    throw new UsageError(`The tool \`${name}\` has no \`description\`.`, {
      hint: "Say what it does and when to use it: a model chooses by it.",
    });
  }
  if (typeof execute !== "function")
    throw new UsageError(`The tool \`${name}\` has no function \`execute\`.`);
  const { json, read } = readSchema(input, `\`input\` of the tool \`${name}\``);
  if (json.type !== "object") {
    throw new UsageError(`\`input\` of the tool \`${name}\` does not describe an object.`, {
      hint: "Models call tools with an object: put the value into one, such as `{ value: … }`.",
    });
  }
  return { name, description, inputSchema: json, effect: readEffect(name, effect), readInput: read, execute };
}

function readEffect(tool: string, effect: ProgramEffect): ToolEffect {
  if (Object.hasOwn(EFFECTS, effect)) return EFFECTS[effect];
  const names = Object.keys(EFFECTS);
  const [near] = nearestNames(String(effect), names, 1);
  throw new UsageError(`\`effect\` of the tool \`${tool}\` is ${showValue(effect)}.`, {
    hint: near ? `Did you mean \`${near}\`?` : `Allowed are ${showNames(names)}.`,
  });
}

/** As every stage knows it: whatever it returns becomes an answer. */
export function acceptTool(given: GivenTool): AcceptedTool {
  const { execute, readInput, ...rest } = given;
  return {
    ...rest,
    ...(readInput && { readInput }),
    async execute(input, context) {
      try {
        const answer: unknown = await execute.call(given, input as never, context);
        return await readAnswer(given.name, answer, context.signal);
      } catch (thrown) {
        return readThrown(given.name, thrown);
      }
    },
  };
}
