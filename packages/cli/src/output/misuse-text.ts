/** Explains a command line that the parser refused: what is wrong, what is allowed, and how to type it. */
import { UsageError } from "@metier/base/errors";
import { ArgumentScannerError, formatMessageForArgumentScannerError } from "@stricli/core";
import type { DeclaredCommand } from "../commands/define.ts";
import { usageLines } from "./help-text.ts";

/** `fault`: what the parser threw, or else the text it wrote. */
export function describeMisuse(
  fault: unknown,
  complaint: string,
  command: DeclaredCommand | undefined,
): UsageError {
  const message = fault instanceof ArgumentScannerError ? faultText(fault) : complaint;
  return new UsageError(message || "Can't parse the command line.", { hint: hintFor(command) });
}

function hintFor(command: DeclaredCommand | undefined): string {
  if (command === undefined)
    return "`metier --help` lists the commands, `metier <command> --help` the options.";
  const lines = usageLines(command).map((line) => `\`metier ${line}\``);
  return `Type ${lines.join(" or ")}. See \`metier ${command.name} --help\`.`;
}

function faultText(fault: ArgumentScannerError): string {
  return formatMessageForArgumentScannerError(fault, {
    FlagNotFoundError: ({ input, corrections }) =>
      `Unknown option \`--${input}\`${didYouMean(corrections.map((name) => `--${name}`))}`,
    AliasNotFoundError: ({ input }) => `Unknown option \`-${input}\`.`,
    EnumValidationError: ({ externalFlagName, input, values }) =>
      `\`--${externalFlagName}\` is \`${input}\`; it must be ${listChoices(values)}.`,
    ArgumentParseError: ({ externalFlagNameOrPlaceholder: name, input, exception }) =>
      `\`${name}\` is \`${input}\`: ${exception instanceof Error ? exception.message : String(exception)}`,
    UnsatisfiedFlagError: ({ externalFlagName }) => `\`--${externalFlagName}\` needs a value.`,
    UnexpectedFlagError: ({ externalFlagName }) => `\`--${externalFlagName}\` is given twice.`,
    InvalidNegatedFlagSyntaxError: ({ externalFlagName }) => `\`--${externalFlagName}\` takes no value.`,
    UnexpectedPositionalError: ({ input }) => `Unexpected argument \`${input}\`.`,
    UnsatisfiedPositionalError: ({ placeholder }) => `Missing \`<${placeholder}>\`.`,
  });
}

function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? "." : `: did you mean ${names.map((name) => `\`${name}\``).join(" or ")}?`;
}

function listChoices(values: readonly string[]): string {
  const names = values.map((value) => `\`${value}\``);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
