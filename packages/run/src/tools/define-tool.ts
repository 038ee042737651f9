/**
 * Tools of an embedding program: plain objects, or `defineTool` with a schema from any library, which types `execute`.
 * Either may return anything.
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
 * What a program's tool does: `read` only looks, and is allowed; `write` changes something in the program, and
 * `external` reaches other systems. The last two need approval, unless the config or a trusted skill allows them.
 */
export type ProgramEffect = "read" | "write" | "external";

/** What `execute` gets besides its input. */
export type ToolCallContext = Pick<
  ToolContext,
  "caller" | "runId" | "skill" | "callId" | "signal" | "env" | "log"
>;

/** Options of `defineTool`. */
export interface ToolDefinition<Schema extends GivenSchema = GivenSchema, Output = unknown> {
  /** `a-z`, `0-9` and `_`, starting with a letter. */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** The schema of an object: a Standard Schema (zod, valibot, arktype …) or a JSON Schema. */
  readonly input: Schema;
  /** What a call does; decides whether someone is asked first. */
  readonly effect: ProgramEffect;
  /** Does the work. Its return value is the model's answer; what it throws is an error for the model. */
  readonly execute: (input: SchemaOutput<Schema>, context: ToolCallContext) => Output;
}

/** A tool from `defineTool`, for `tools`. Tests can call its `execute`. */
export interface DefinedTool<Input = never, Output = unknown> {
  /** Its name for models and the tool policy. */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** What the model is shown. */
  readonly inputSchema: Tool["inputSchema"];
  /** In the tool policy's terms. */
  readonly effect: ToolEffect;
  /** Checks a model's input against the schema: returns the value for `execute`, or what is wrong with it. */
  readonly readInput: (input: ToolInput) => Promise<Result<unknown, string>>;
  /** Does the work; `readInput` has read the input. */
  readonly execute: (input: Input, context: ToolCallContext) => Output;
}

/** A tool as a plain object. */
export interface PlainGivenTool extends Omit<Tool, "execute"> {
  /** Only tools from `defineTool` have it; a plain tool's input is checked against its `inputSchema`. */
  readonly readInput?: undefined;
  /** May return anything, and may throw. */
  execute(input: ToolInput, context: ToolContext): unknown;
}

/** A tool of the embedding program, for `tools`: from `defineTool`, or a plain object. */
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
 * A tool for the models of runs, typed by its schema. It gets the caller (`caller`), the run (`runId`, `skill`), and a
 * `signal` to stop, and can leave notes (`log`). It may return anything: text, a value, nothing, bytes, a stream.
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
 * @throws `UsageError` for an invalid name, effect or schema.
 */
export function defineTool<const Schema extends GivenSchema, Output>(
  definition: ToolDefinition<Schema, Output>,
): DefinedTool<SchemaOutput<Schema>, Output> {
  if (definition === undefined) throw new UsageError("`defineTool` takes one object.");
  checkKeys("defineTool", definition, KEYS);
  const { name, description, input, effect, execute } = definition;
  checkProgramTools([{ name }]);
  if (typeof description !== "string" || description.trim() === "") {
    throw new UsageError(`The tool \`${name}\` has no \`description\`.`, {
      hint: "Describe what it does and when to use it: models choose tools by this text.",
    });
  }
  if (typeof execute !== "function")
    throw new UsageError(`The tool \`${name}\` has no \`execute\` function.`);
  const { json, read } = readSchema(input, `\`input\` of the tool \`${name}\``);
  if (json.type !== "object") {
    throw new UsageError(`\`input\` of the tool \`${name}\` does not describe an object.`, {
      hint: "Models call tools with an object: wrap the value in one, such as `{ value: … }`.",
    });
  }
  return { name, description, inputSchema: json, effect: readEffect(name, effect), readInput: read, execute };
}

function readEffect(tool: string, effect: ProgramEffect): ToolEffect {
  if (Object.hasOwn(EFFECTS, effect)) return EFFECTS[effect];
  const names = Object.keys(EFFECTS);
  const [near] = nearestNames(String(effect), names, 1);
  throw new UsageError(`\`effect\` of the tool \`${tool}\` is ${showValue(effect)}.`, {
    hint: near ? `Did you mean \`${near}\`?` : `Allowed: ${showNames(names)}.`,
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
