/**
 * How a provider's program is started: its file and its environment. It gets only the few variables that a program
 * needs, those from its config, and the secret for checking tokens.
 */
import { dirname, join, resolve } from "node:path";
import { createCommandFinder, type Environment } from "@metier/base/programs";
import { tellMoved } from "@metier/base/text";
import { fetchSecret, type Redactor, type Secret, type SecretMachine } from "@metier/sandbox/secrets";
import type { EnvironmentValue } from "@metier/skills/config";
import { type Answer, answerFault, answerWith } from "../capability.ts";

interface ProviderProgram {
  /** As in `[capabilities.providers.<name>]`. */
  readonly name: string;
  readonly command: readonly string[];
  /** Variables from the config. */
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  /** The secret with which a bridge checks tokens. A program that is not told about callers gets none. */
  readonly verifierSecret?: string | undefined;
  /** If it is not a capability provider. */
  readonly words?: ProgramWords | undefined;
}

export interface ProviderSurroundings {
  /** Its working directory and `HOME`, so that a project's folder cannot bring in code. */
  readonly home: string;
  readonly environment: Environment;
  /** Fetches values that the config only references. */
  readonly machine: SecretMachine;
}

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Values in `env` that must not be shown. */
  readonly secrets: readonly Secret[];
}

const PASSED = ["LANG", "LC_ALL", "PATH", "PYTHONPATH", "TMP", "TEMP", "TMPDIR", "USER"] as const;
const PASSED_PREFIX = "GOGCLI_";
export const SECRET_VARIABLE = "METIER_CONTEXT_TOKEN_SECRET";
/** The same, under the name that bridges for other hosts use. */
const OTHER_SECRET_VARIABLE = "ASH_CONTEXT_TOKEN_SECRET";

/** Prepared on first use, and again only if that failed. The redactor learns what must not be shown. */
export function createLauncher(
  program: ProviderProgram,
  surroundings: ProviderSurroundings,
  redactor: Redactor,
): () => Promise<Answer<Launch>> {
  let prepared: Answer<Launch> | undefined;
  return async () => {
    if (prepared?.ok) return prepared;
    prepared = await prepareLaunch(program, surroundings);
    if (prepared.ok) for (const secret of prepared.value.secrets) redactor.add(secret);
    return prepared;
  };
}

export async function prepareLaunch(
  program: ProviderProgram,
  { home, environment, machine }: ProviderSurroundings,
): Promise<Answer<Launch>> {
  const { name, command, env, verifierSecret, words = providerWords(name) } = program;
  const [word = "", ...args] = command;
  const file = findExecutable(word, environment);
  if (file === undefined) {
    return answerFault(
      "capability_backend_unavailable",
      `${words.subject} cannot be started: the program \`${word}\` is not next to Node, in an active virtual environment or on PATH.`,
      { hint: tellMoved(word) ?? `Install it, or set \`command\` in \`${words.table}\` to its path.` },
    );
  }
  const configured = await fetchVariables(words, env, machine);
  if (!configured.ok) return configured;
  const { variables, secrets } = configured.value;
  const verifier = verifierSecret === undefined ? [] : [{ name: SECRET_VARIABLE, value: verifierSecret }];
  return answerWith({
    program: file,
    args,
    cwd: home,
    env: {
      ...passedVariables(environment),
      HOME: home,
      ...variables,
      ...(verifierSecret !== undefined && {
        [SECRET_VARIABLE]: verifierSecret,
        [OTHER_SECRET_VARIABLE]: verifierSecret,
      }),
    },
    secrets: [...secrets, ...verifier],
  });
}

interface FetchedVariables {
  readonly variables: Readonly<Record<string, string>>;
  /** Those that must not be shown. */
  readonly secrets: readonly Secret[];
}

/** The variables from a provider's config, by value. */
export async function fetchVariables(
  words: ProgramWords,
  env: ProviderProgram["env"],
  machine: SecretMachine,
): Promise<Answer<FetchedVariables>> {
  const variables: Record<string, string> = {};
  const secrets: Secret[] = [];
  for (const [variable, source] of Object.entries(env)) {
    const read =
      "value" in source ? answerWith(source.value) : await fetchValue(words, variable, source, machine);
    if (!read.ok) return read;
    if (read.value.includes("\0")) {
      return answerFault(
        "capability_backend_unavailable",
        `${words.subject} cannot be started: the value of \`${variable}\` contains a NUL character, which a variable cannot hold.`,
        { hint: "Store it in another form, for example base64." },
      );
    }
    variables[variable] = read.value;
    if (source.secret) secrets.push({ name: variable, value: read.value });
  }
  return answerWith({ variables, secrets });
}

/** A path is used as is; a name is searched next to our Node, in an active virtual environment, then on PATH. */
export function findExecutable(word: string, environment: Environment): string | undefined {
  if (word.includes("/")) return resolve(word);
  const { VIRTUAL_ENV, PATH = "" } = environment;
  const folders = [dirname(process.execPath), ...(VIRTUAL_ENV ? [join(VIRTUAL_ENV, "bin")] : []), PATH];
  return createCommandFinder({ ...environment, PATH: folders.join(":") })(word);
}

function passedVariables(environment: Environment): Readonly<Record<string, string>> {
  const names = [...PASSED, ...Object.keys(environment).filter((name) => name.startsWith(PASSED_PREFIX))];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

async function fetchValue(
  { subject }: ProgramWords,
  variable: string,
  source: Exclude<EnvironmentValue, { readonly value: string }>,
  machine: SecretMachine,
): Promise<Answer<string>> {
  const fetched = await fetchSecret(source, machine);
  if (fetched.ok) return answerWith(fetched.value);
  const { message, hint } = fetched.refusal;
  return answerFault(
    "capability_backend_unavailable",
    `${subject} cannot be started: \`${variable}\` has no value. ${message}`,
    { hint },
  );
}

/** How messages name a program or server, where its config is, and what helps if it failed. */
export interface ProgramWords {
  /** ``The provider `mail` `` */
  readonly subject: string;
  /** `[capabilities.providers.mail]` */
  readonly table: string;
  /** A sentence. */
  readonly advice: string;
}

export function providerWords(name: string): ProgramWords {
  return {
    subject: `The provider \`${name}\``,
    table: `[capabilities.providers.${name}]`,
    advice: "Try again, or check its state with `metier capability providers`.",
  };
}
