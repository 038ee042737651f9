/**
 * A value that the config only refers to: printed by a command of the user's, or kept in the key chain of the system. The
 * program is found on PATH alone and started without a shell. What it prints is in no message.
 */
import type { EnvironmentValue, KeychainEntry } from "../config/config.ts";
import type { CommandFinder } from "../host/find-command.ts";

/** Runs a program without a shell; rejects when it cannot be run or fails. */
export type SecretCommandRunner = (
  argv: readonly string[],
  options: { readonly timeoutMs: number },
) => Promise<{ readonly stdout: string }>;

export interface SecretMachine {
  readonly runCommand: SecretCommandRunner;
  readonly findCommand: CommandFinder;
  readonly platform: NodeJS.Platform;
}

export type FetchedSecret =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/** It may wait for a finger or a passphrase, but nobody is told to give one. */
const TIMEOUT_MS = 10_000;

export type SecretReference = Exclude<EnvironmentValue, { readonly value: string }>;

export async function fetchSecret(
  reference: SecretReference,
  machine: SecretMachine,
): Promise<FetchedSecret> {
  const argv = "command" in reference ? reference.command : keychainCommand(reference.keychain, machine);
  if (argv === undefined) {
    return {
      ok: false,
      message: `\`keychain\` is not supported on \`${machine.platform}\`.`,
      hint: 'Use `{ command = ["program", "argument"] }` with a program that prints the value.',
    };
  }
  const [name = "", ...rest] = argv;
  const program = name.startsWith("/") ? name : machine.findCommand(name);
  if (program === undefined) {
    return {
      ok: false,
      message: `The program \`${name}\` is not on PATH.`,
      hint: `Install it or name it by its absolute path${"keychain" in reference ? '; or use `{ command = ["program", "argument"] }` instead' : ""}.`,
    };
  }
  try {
    const { stdout } = await machine.runCommand([program, ...rest], { timeoutMs: TIMEOUT_MS });
    const value = stdout.replace(/(?:\r?\n)+$/, "");
    if (value !== "") return { ok: true, value };
  } catch {
    // What the program said may hold the secret: only that it failed is told.
  }
  return {
    ok: false,
    message: `\`${name}\` failed, took longer than ${TIMEOUT_MS / 1000} seconds or printed nothing.`,
    hint: "Run it in a terminal: it must print the value alone and end with 0.",
  };
}

function keychainCommand(
  { service, account }: KeychainEntry,
  { platform }: SecretMachine,
): readonly string[] | undefined {
  if (platform === "darwin") return ["security", "find-generic-password", "-s", service, "-a", account, "-w"];
  if (platform === "linux") return ["secret-tool", "lookup", "service", service, "account", account];
  return undefined;
}
