/**
 * An AI SDK request in node-llama-cpp's form: a history in which a model's turn has its calls with their results, and
 * functions with the part of JSON Schema that a grammar can enforce. There, every property is required, so optional
 * ones may be `null`, which `readParams` removes again.
 */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { isJsonObject } from "@metier/base/json";
import { recordMessages, systemText } from "../messages.ts";
import type { LlamaCall, LlamaFunctions, LlamaMessage, LlamaSchema } from "./gguf-library.ts";

/** Ends with the model's turn to be written. */
export function toLlamaHistory(prompt: LanguageModelV4CallOptions["prompt"]): readonly LlamaMessage[] {
  const system = systemText(prompt);
  const history: LlamaMessage[] = system === undefined ? [] : [{ type: "system", text: system }];
  const messages = recordMessages(prompt);
  const results = new Map(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === "tool-result"
          ? [[part.callId, part.isError ? `Error: ${part.text}` : part.text] as const]
          : [],
      ),
    ),
  );
  let said: (string | LlamaCall)[] = [];
  const endTurn = (): void => {
    if (said.length > 0) history.push({ type: "model", response: said });
    said = [];
  };
  for (const { role, parts } of messages) {
    if (role === "user") {
      endTurn();
      const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      history.push({ type: "user", text });
      continue;
    }
    let isFirst = true;
    for (const part of parts) {
      if (part.type === "text" && role === "assistant") said.push(part.text);
      if (part.type !== "tool-call") continue;
      const result = results.get(part.callId) ?? "";
      const call: LlamaCall = { type: "functionCall", name: part.tool, params: part.input, result };
      said.push(isFirst ? { ...call, startsNewChunk: true } : call);
      isFirst = false;
    }
  }
  history.push({ type: "model", response: said });
  return history;
}

/** `undefined`: none are offered. */
export function toLlamaFunctions({
  tools = [],
  toolChoice,
}: Pick<LanguageModelV4CallOptions, "tools" | "toolChoice">): LlamaFunctions | undefined {
  if (toolChoice?.type === "none") return undefined;
  const only = toolChoice?.type === "tool" ? toolChoice.toolName : undefined;
  const offered = tools.flatMap((tool) =>
    tool.type === "function" && (only === undefined || tool.name === only)
      ? [[tool.name, { description: tool.description ?? "", params: toParams(tool.inputSchema) }] as const]
      : [],
  );
  return offered.length > 0 ? Object.fromEntries(offered) : undefined;
}

function toParams(schema: unknown): LlamaSchema | undefined {
  if (!isJsonObject(schema) || Object.keys(propertiesOf(schema)).length === 0) return undefined;
  return toLlamaSchema(schema);
}

/** What a grammar can't express (`$ref`, lengths, patterns) is left to Metier's own check of the call. */
export function toLlamaSchema(schema: unknown, depth = 0): LlamaSchema {
  if (!isJsonObject(schema) || depth > MOST_DEPTH) return ANYTHING;
  const { type, const: only, enum: values, description } = schema;
  const told = typeof description === "string" ? { description } : {};
  const choices = schema.oneOf ?? schema.anyOf;
  if (only !== undefined && isPlain(only)) return { const: only, ...told };
  if (Array.isArray(values) && values.length > 0 && values.every(isPlain)) return { enum: values, ...told };
  if (Array.isArray(choices) && choices.length > 0) {
    return { oneOf: choices.map((choice) => toLlamaSchema(choice, depth + 1)), ...told };
  }
  if (Array.isArray(type)) {
    const each = type.map((one) =>
      toLlamaSchema({ ...schema, type: one, description: undefined }, depth + 1),
    );
    return { oneOf: each, ...told };
  }
  if (type === "object") return { ...toObject(schema, depth), ...told };
  if (type === "array") return { type, ...toItems(schema, depth), ...told };
  return typeof type === "string" && PLAIN_TYPES.has(type) ? { type, ...told } : { ...ANYTHING, ...told };
}

const MOST_DEPTH = 12;
const PLAIN_TYPES: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "null"]);
const ANYTHING: LlamaSchema = {
  oneOf: [
    ...["string", "number", "boolean", "null", "array"].map((type) => ({ type })),
    { type: "object", additionalProperties: true },
  ],
};

function toObject(schema: LlamaSchema, depth: number): LlamaSchema {
  const required = requiredOf(schema);
  const properties = Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const wanted = toLlamaSchema(property, depth + 1);
    return [name, required.has(name) ? wanted : orNull(wanted)];
  });
  if (properties.length > 0) return { type: "object", properties: Object.fromEntries(properties) };
  const { additionalProperties: more } = schema;
  return {
    type: "object",
    additionalProperties: isJsonObject(more) ? toLlamaSchema(more, depth + 1) : more !== false,
  };
}

function toItems({ items }: LlamaSchema, depth: number): LlamaSchema {
  return items === undefined ? {} : { items: toLlamaSchema(items, depth + 1) };
}

function orNull(schema: LlamaSchema): LlamaSchema {
  const { description, ...rest } = schema;
  return { oneOf: [rest, { type: "null" }], ...(description !== undefined && { description }) };
}

function propertiesOf({ properties }: LlamaSchema): LlamaSchema {
  return isJsonObject(properties) ? properties : {};
}

function requiredOf({ required }: LlamaSchema): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? required : []);
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** What the model wrote for a call, without the `null`s of omitted properties. */
export function readParams(params: unknown, schema: unknown): unknown {
  if (Array.isArray(params)) {
    const { items } = (isJsonObject(schema) ? schema : {}) as LlamaSchema;
    return params.map((item) => readParams(item, items));
  }
  if (!isJsonObject(params) || !isJsonObject(schema)) return params ?? {};
  const [properties, required] = [propertiesOf(schema), requiredOf(schema)];
  const kept = Object.entries(params).filter(
    ([name, value]) => value !== null || required.has(name) || !Object.hasOwn(properties, name),
  );
  return Object.fromEntries(
    kept.map(([name, value]) => [name, value === null ? null : readParams(value, properties[name])]),
  );
}
