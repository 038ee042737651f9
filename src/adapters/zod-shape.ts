/** The input of a skill tool as the shape of a Zod object, made by the host's own Zod (3 or 4). */
import type { ConversationTool } from "../run/conversation-tool.ts";

/** As much of Zod's `z` as is needed. */
export interface ZodLike {
  string(): ZodTypeLike;
  enum(values: [string, ...string[]]): ZodTypeLike;
  number(): ZodTypeLike;
  record(key: never, value: never): ZodTypeLike;
  unknown(): unknown;
}

export interface ZodTypeLike {
  optional(): unknown;
  describe(text: string): ZodTypeLike;
}

interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
}

/** Bounds of numbers are left to the tool, which checks every call against the whole schema. */
export function zodShape(schema: ConversationTool["inputSchema"], z: ZodLike): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const type = zodType(property, z).describe(property.description ?? "");
      return [name, required.includes(name) ? type : type.optional()];
    }),
  );
}

function zodType({ type, enum: values = [] }: Property, z: ZodLike): ZodTypeLike {
  const [first, ...others] = values;
  if (first !== undefined) return z.enum([first, ...others]);
  if (type === "integer" || type === "number") return z.number();
  if (type === "object") return z.record(z.string() as never, z.unknown() as never);
  return z.string();
}
