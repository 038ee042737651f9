/**
 * How a command is declared: its options, with the types its action gets, and its action, loaded only when it runs.
 * Every command takes the common options.
 */
import { once } from "@metier/base/turns";
import { PROFILES } from "@metier/skills";
import { PRESETS } from "@metier/skills/config";
import { buildCommand, type Command } from "@stricli/core";
import type { CliContext } from "../context.ts";

interface Declaration<Table extends FlagTable, Module> {
  readonly name: string;
  /** Other names people try first, such as `ls` for `list`. */
  readonly also?: readonly string[];
  /** One line for the overview. */
  readonly brief: string;
  /** What it does, in a few sentences. Help wraps it; an empty line starts a paragraph. */
  readonly description: string;
  readonly examples: readonly string[];
  /** The words after the command, if `positional` can't express them: `["<skill> [<task>...]"]`. */
  readonly usage?: readonly string[];
  /** For a command that does several things: `{ "show <id>": "Show a run step by step" }`. */
  readonly actions?: Readonly<Record<string, string>>;
  /** Besides the common ones. */
  readonly flags?: Table;
  /** One letter for a flag: `{ k: "number" }`. */
  readonly aliases?: Readonly<Record<string, keyof Table & string>>;
  readonly positional?: Positional;
  /** Loads the file with its action. */
  readonly from: () => Promise<Module>;
  /** The name of an `Action` that takes the flags of this declaration. */
  readonly action: keyof Module;
}

export interface DeclaredCommand<Table extends FlagTable = FlagTable> {
  readonly name: string;
  readonly also: readonly string[];
  readonly brief: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly usage?: readonly string[] | undefined;
  readonly actions?: Readonly<Record<string, string>> | undefined;
  readonly flags: Table;
  /** Letter → flag. */
  readonly letters: Readonly<Record<string, string>>;
  readonly positional?: Positional | undefined;
  readonly command: Command<CliContext>;
}

/** Does a command, given its options and the words after it. */
export type Action<Flags = CommonFlags, Words extends readonly (string | undefined)[] = readonly string[]> = (
  context: CliContext,
  flags: Flags,
  ...words: Words
) => Promise<void>;

export function defineCommand<Module, const Table extends FlagTable = Readonly<Record<never, never>>>(
  declaration: Declaration<Table, Module>,
): DeclaredCommand<Table> {
  const { name, also = [], brief, description, examples, usage, actions } = declaration;
  const { flags = {} as Table, aliases, positional } = declaration;
  const parameters = {
    flags: { ...flags, ...COMMON_FLAGS },
    ...(aliases && { aliases }),
    ...(positional && { positional }),
  };
  const build = once(() =>
    buildCommand<CommonFlags, string[], CliContext>({
      loader: async () => {
        // An action's flags have the type of the declaration that names it, a circle that TypeScript can't check.
        const act = (await declaration.from())[declaration.action] as Action;
        return async function (this: CliContext, given: CommonFlags, ...args: string[]) {
          try {
            await act(this, given, ...args);
          } catch (fault) {
            this.fault = fault; // `run-cli.ts` words it, as text or as JSON.
          }
        };
      },
      parameters: parameters as never,
      docs: { brief }, // `output/help-text.ts` writes the help.
    }),
  );
  const letters: Readonly<Record<string, string>> = aliases ?? {};
  const declared = { name, also, brief, description, examples, usage, actions, flags, letters, positional };
  return {
    ...declared,
    get command() {
      return build(); // Only the requested command's flags are checked then, not all flags at every start.
    },
  };
}

// Anonymous types, so that the type of a declaration can be written without them.

/** An option with a value. */
type TextFlag = {
  readonly kind: "parsed";
  readonly parse: (text: string) => string;
  readonly optional: true;
  readonly placeholder: string;
  readonly brief: string;
};

/** An option that may be repeated. */
type ListFlag = TextFlag & { readonly variadic: true | "," };

type ChoiceFlag<Value extends string> = {
  readonly kind: "enum";
  readonly values: readonly Value[];
  readonly brief: string;
};

/** An option without a value. */
type SwitchFlag = {
  readonly kind: "boolean";
  readonly default: false;
  readonly withNegated: false;
  readonly brief: string;
};

/** `--x`, `--no-x` or neither. */
type EitherFlag = {
  readonly kind: "boolean";
  readonly optional: true;
  readonly brief: string;
};

export type Flag =
  | TextFlag
  | ListFlag
  | SwitchFlag
  | EitherFlag
  | (ChoiceFlag<string> & { readonly optional: true })
  | (ChoiceFlag<string> & { readonly default: string });

type FlagTable = Readonly<Record<string, Flag>>;

type ValueOf<One extends Flag> = One extends ListFlag
  ? readonly string[]
  : One extends TextFlag
    ? string
    : One extends ChoiceFlag<infer Value>
      ? Value
      : boolean;

/** The parsed options of a table: those with a default are always set. */
type Parsed<Table extends FlagTable> = {
  readonly [Name in keyof Table as Table[Name] extends { readonly default: unknown } ? Name : never]: ValueOf<
    Table[Name]
  >;
} & {
  readonly [Name in keyof Table as Table[Name] extends { readonly optional: true } ? Name : never]?:
    | ValueOf<Table[Name]>
    | undefined;
};

/** The options of a command as its action gets them. */
export type FlagsOf<Declared extends DeclaredCommand> = Parsed<Declared["flags"]> & CommonFlags;

export function textFlag(placeholder: string, brief: string): TextFlag {
  return { kind: "parsed", parse: String, optional: true, placeholder, brief };
}

/** With a separator, one value may hold several. */
export function listFlag(placeholder: string, brief: string, variadic: true | "," = true): ListFlag {
  return { ...textFlag(placeholder, brief), variadic };
}

export function switchFlag(brief: string): SwitchFlag {
  return { kind: "boolean", default: false, withNegated: false, brief };
}

export function eitherFlag(brief: string): EitherFlag {
  return { kind: "boolean", optional: true, brief };
}

export function choiceFlag<const Value extends string>(
  values: readonly Value[],
  brief: string,
): ChoiceFlag<Value> & { readonly optional: true } {
  return { kind: "enum", values, optional: true, brief };
}

export function defaultedFlag<const Value extends string>(
  values: readonly Value[],
  usual: NoInfer<Value>,
  brief: string,
): ChoiceFlag<Value> & { readonly default: Value } {
  return { kind: "enum", values, default: usual, brief };
}

/** The options every command takes. */
export const COMMON_FLAGS = {
  cwd: textFlag("dir", "Run as if started in this folder"),
  home: textFlag("dir", "Use this folder instead of your home folder"),
  config: textFlag("file", "Read this config file instead of the project's"),
  preset: choiceFlag(PRESETS, "Use another system's folders, order and config"),
  path: listFlag("path", "Also use the skills in this folder or file (repeatable)"),
  profile: choiceFlag(PROFILES, "How strictly to check skills"),
  json: switchFlag("Print one JSON value"),
};

export type CommonFlags = Parsed<typeof COMMON_FLAGS>;

/** Options that several commands share, each with one meaning. */
export const MODEL_FLAG = textFlag("name", "An alias such as fast or opus, or provider/model");
export const APPROVE_FLAG = switchFlag(
  "Say yes to every tool call that would ask; never overrides a deny or grants trust",
);
export const VARIABLES_FLAG = textFlag(
  "file",
  "Values for the variables the skill declares, one NAME=value per line",
);

/** Who asks, for skills that are limited to some chats. */
export const CALLER_FLAGS = {
  user: textFlag("id", "Who is asking (default: the user of this machine)"),
  chatType: textFlag("type", "The kind of chat it comes from (default: private)"),
  chatId: textFlag("id", "The chat it comes from (default: cli)"),
};

export type CallerFlags = Parsed<typeof CALLER_FLAGS>;

/** The words after the command, as the parser wants them. */
export interface Positional {
  readonly kind: "tuple" | "array";
  readonly minimum?: number;
  readonly parameters?: readonly Argument[];
  readonly parameter?: Argument;
}

interface Argument {
  readonly parse: (text: string) => string;
  readonly optional?: true;
  readonly placeholder: string;
  readonly brief: string;
}

/** One optional argument. */
export function optionalArgument(placeholder: string, brief: string): Positional {
  return { kind: "tuple", parameters: [{ parse: String, optional: true, placeholder, brief }] };
}

export function requiredArgument(placeholder: string, brief: string): Positional {
  return { kind: "tuple", parameters: [{ parse: String, placeholder, brief }] };
}

/** Any number of arguments. */
export function manyArguments(placeholder: string, brief: string, minimum = 0): Positional {
  return { kind: "array", minimum, parameter: { parse: String, placeholder, brief } };
}
