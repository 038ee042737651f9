/** How a command is declared: common options added, its action loaded only when it runs, its faults turned into words. */
import { buildCommand, type Command } from "@stricli/core";
import type { ActionName } from "../actions.ts";
import { COMMON_FLAGS, type CommonFlags } from "../common-flags.ts";
import type { CliContext } from "../context.ts";

/** The groups of the overview page, in its order. */
export type CommandGroup = "Reading" | "Doing" | "Authoring" | "Managing" | "Connecting";

interface Declaration {
  readonly name: string;
  readonly group: CommandGroup;
  /** One line for the overview. */
  readonly brief: string;
  /** What it does, in a few lines. */
  readonly description: string;
  readonly examples: readonly string[];
  /** Besides the common ones; the action declares their types. */
  readonly flags?: Readonly<Record<string, object>>;
  /** One letter for a flag: `{ k: "k" }`. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly positional?: object;
  readonly action: ActionName;
}

export interface DeclaredCommand {
  readonly name: string;
  readonly group: CommandGroup;
  readonly brief: string;
  readonly command: Command<CliContext>;
}

type Run = (context: CliContext, flags: CommonFlags, ...args: readonly string[]) => Promise<void>;

export function defineCommand(declaration: Declaration): DeclaredCommand {
  const { name, group, brief, description, examples, flags = {}, aliases, positional, action } = declaration;
  const parameters = {
    flags: { ...flags, ...COMMON_FLAGS },
    ...(aliases && { aliases }),
    ...(positional && { positional }),
  };
  const command = buildCommand<CommonFlags, string[], CliContext>({
    loader: async () => {
      const { ACTIONS } = await import("../actions.ts");
      // Flags and arguments were parsed by the declaration beside this one, which the action's types describe.
      const run = ACTIONS[action] as Run;
      return async function (this: CliContext, given: CommonFlags, ...args: string[]) {
        try {
          await run(this, given, ...args);
        } catch (fault) {
          this.fault = fault; // `run-cli.ts` words it, as text or as JSON.
        }
      };
    },
    parameters: parameters as never,
    docs: {
      brief,
      fullDescription: [description, "", "Examples:", ...examples.map((line) => `  ${line}`)].join("\n"),
    },
  });
  return { name, group, brief, command };
}

/** A positional argument that may be left out. */
export function optionalArgument(placeholder: string, brief: string): object {
  return { kind: "tuple", parameters: [{ parse: String, optional: true, placeholder, brief }] };
}

export function requiredArgument(placeholder: string, brief: string): object {
  return { kind: "tuple", parameters: [{ parse: String, placeholder, brief }] };
}

/** Any number of arguments. */
export function manyArguments(placeholder: string, brief: string, minimum = 0): object {
  return { kind: "array", minimum, parameter: { parse: String, placeholder, brief } };
}

/** An option with a value, which may be left out. */
export function textFlag(placeholder: string, brief: string): object {
  return { kind: "parsed", parse: String, optional: true, placeholder, brief };
}

/** An option without a value. */
export function switchFlag(brief: string): object {
  return { kind: "boolean", default: false, withNegated: false, brief };
}
