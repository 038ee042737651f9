/** How a command is declared: common options added, its action loaded only when it runs, its faults turned into words. */
import { buildCommand, type Command } from "@stricli/core";
import { COMMON_FLAGS, type CommonFlags } from "../common-flags.ts";
import type { CliContext } from "../context.ts";

/** The groups of the overview page, in its order. */
export type CommandGroup = "Reading" | "Authoring" | "Managing";

export type Action<Flags, Args extends readonly string[]> = (
  context: CliContext,
  flags: Flags & CommonFlags,
  ...args: Args
) => Promise<void>;

interface Declaration<Flags extends object, Args extends readonly string[]> {
  readonly name: string;
  readonly group: CommandGroup;
  /** One line for the overview. */
  readonly brief: string;
  /** What it does, in a few lines. */
  readonly description: string;
  readonly examples: readonly string[];
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly positional?: object;
  load(): Promise<{ readonly run: Action<Flags, Args> }>;
}

export interface DeclaredCommand {
  readonly name: string;
  readonly group: CommandGroup;
  readonly brief: string;
  readonly command: Command<CliContext>;
}

export function defineCommand<Flags extends object, Args extends readonly string[] = readonly []>(
  declaration: Declaration<Flags, Args>,
): DeclaredCommand {
  const { name, group, brief, description, examples, flags = {}, positional } = declaration;
  const parameters = { flags: { ...flags, ...COMMON_FLAGS }, ...(positional && { positional }) };
  const command = buildCommand<Flags & CommonFlags, string[], CliContext>({
    loader: async () => {
      const { run } = await declaration.load();
      return async function (this: CliContext, given: Flags & CommonFlags, ...args: string[]) {
        try {
          await run(this, given, ...(args as unknown as Args));
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
