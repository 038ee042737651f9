/**
 * The API for toolset authors, imported as `metier/toolset`. Inside the sandbox this file has that name, so a skill
 * needs no packages for it.
 */

/** A value that JSON can hold. */
export type ToolsetJson =
  | string
  | number
  | boolean
  | null
  | readonly ToolsetJson[]
  | { readonly [key: string]: ToolsetJson };

/** A JSON Schema, by its keywords. */
export interface ToolsetSchema {
  readonly [keyword: string]: ToolsetJson;
}

/** What a tool gets besides its input. */
export interface ToolsetContext {
  /** This run's folder: writable, and kept after the run. */
  readonly workDir: string;
  /** The skill's own folder for this user: writable, and kept across runs and updates of the skill. */
  readonly dataDir?: string;
  /** Read-only. */
  readonly skillDir: string;
  /**
   * Aborts when the call is cancelled or takes too long; a tool that continues is stopped with its process soon after.
   */
  readonly signal: AbortSignal;
}

/** One tool that a model can call. */
export interface ToolsetTool<Input extends ToolsetSchema = ToolsetSchema> {
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** JSON Schema of the input, `type: "object"`. Checked before `run`. */
  readonly input: Input;
  /** JSON Schema of the result of `run`: a result that does not match is an error. */
  readonly output?: ToolsetSchema;
  /** Its result goes to the model; an exception becomes an error for the model. */
  run(
    input: FromSchema<Input>,
    context: ToolsetContext,
  ): ToolsetJson | undefined | Promise<ToolsetJson | undefined>;
}

/** The tools that a skill ships as code. */
export interface Toolset<Inputs extends Readonly<Record<string, ToolsetSchema>>> {
  /** For messages. Default: its export name. */
  readonly name?: string;
  /** By name: a letter, then letters, digits, `_` and `-`. Models see it as `skill__name`. */
  readonly tools: { readonly [Name in keyof Inputs]: ToolsetTool<Inputs[Name]> };
}

/** Defines a skill's tools; each `run` gets the type that its `input` describes. */
export function defineToolset<const Inputs extends Readonly<Record<string, ToolsetSchema>>>(
  toolset: Toolset<Inputs>,
): Toolset<Inputs> {
  return toolset;
}

/** The type of values that match a JSON Schema, as far as its plain keywords say; anything else is JSON. */
export type FromSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: "string" }
      ? string
      : Schema extends { readonly type: "number" | "integer" }
        ? number
        : Schema extends { readonly type: "boolean" }
          ? boolean
          : Schema extends { readonly type: "null" }
            ? null
            : Schema extends { readonly type: "array"; readonly items: infer Items }
              ? readonly FromSchema<Items>[]
              : Schema extends { readonly type: "object"; readonly properties: infer Properties }
                ? FromProperties<Properties, RequiredOf<Schema, Properties>>
                : ToolsetJson;

type FromProperties<Properties, Required> = Flat<
  { readonly [Name in keyof Properties & Required]: FromSchema<Properties[Name]> } & {
    readonly [Name in Exclude<keyof Properties, Required>]?: FromSchema<Properties[Name]>;
  }
>;

/** Required properties, and those with a default, which is filled in before the call. */
type RequiredOf<Schema, Properties> =
  | (Schema extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | {
      [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never;
    }[keyof Properties];

type Flat<Type> = { [Key in keyof Type]: Type[Key] };
