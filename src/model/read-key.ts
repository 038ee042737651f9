/** The key of a configured model: written in the config, in a variable, or printed by a command. Never in a message. */
import type { ModelConfig, ModelProvider } from "../config/config.ts";
import type { CommandRunner, ModelFailure, ModelRequest, ModelSecret } from "./model-request.ts";
import { PROVIDER_FACTS } from "./provider-facts.ts";

export type KeyOutcome = { readonly ok: true; readonly secret?: ModelSecret } | ModelFailure;

type Printed = Promise<string>;

/** A command that prints a key is run once per process: it may ask for a finger or unlock a vault. */
const printedKeys = new Map<string, Printed>();

export async function readKey(
  config: ModelConfig & { readonly provider: ModelProvider },
  where: string,
  { environment, runCommand }: Pick<ModelRequest, "environment" | "runCommand">,
): Promise<KeyOutcome> {
  const { apiKey, apiKeyEnv, apiKeyCommand, provider } = config;
  if (apiKey) return { ok: true, secret: { name: `${where}.api-key`, value: apiKey } };
  if (apiKeyEnv) {
    const value = environment[apiKeyEnv];
    if (value) return { ok: true, secret: { name: apiKeyEnv, value } };
    return {
      ok: false,
      message: `\`${where}\` takes its key from the variable \`${apiKeyEnv}\`, which is not set.`,
      hint: `Set \`${apiKeyEnv}\`, or give \`api-key\` or \`api-key-command\` instead.`,
    };
  }
  if (apiKeyCommand) return runCommand ? readPrintedKey(apiKeyCommand, where, runCommand) : { ok: true };
  const { keyVariables } = PROVIDER_FACTS[provider];
  const variable = keyVariables.find((name) => environment[name]);
  if (variable) return { ok: true, secret: { name: variable, value: environment[variable] ?? "" } };
  if (keyVariables.length === 0) return { ok: true };
  return {
    ok: false,
    message: `\`${where}\` has no key for \`${provider}\`.`,
    hint: `Set \`${keyVariables[0]}\`, or add \`api-key-env\`, \`api-key-command\` or \`api-key\` to \`[${where}]\`.`,
  };
}

async function readPrintedKey(
  command: readonly string[],
  where: string,
  runCommand: CommandRunner,
): Promise<KeyOutcome> {
  const id = JSON.stringify(command);
  const printed = printedKeys.get(id) ?? runCommand(command).then(({ stdout }) => stdout.trim());
  printedKeys.set(id, printed);
  const value = await printed.catch(() => ""); // What failed may have printed the key: only that it failed is said.
  if (value !== "") return { ok: true, secret: { name: `${where}.api-key-command`, value } };
  printedKeys.delete(id);
  return {
    ok: false,
    message: `The \`api-key-command\` of \`${where}\`, \`${command[0]}\`, failed or printed nothing.`,
    hint: "Run it in a terminal: it must print the key, and nothing else, and end with 0.",
  };
}
