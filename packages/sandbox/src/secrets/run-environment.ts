/**
 * The variables that a run's processes get besides the minimal environment: exactly those the skill declares, with
 * values from the caller, the user's config, or a program named there. Metier's own environment is never read.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { CommandFinder } from "@metier/base/programs";
import { done, type Refusal, type Result, refused } from "@metier/base/result";
import type { Skill, TrustDecision } from "@metier/skills";
import {
  type Config,
  type EnvironmentValue,
  findField,
  formatKeyPath,
  type KeychainEntry,
} from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import type { Secret } from "./redaction.ts";
import { isLongEnough } from "./secret-forms.ts";

interface RunVariable {
  readonly value: string;
  readonly secret: boolean;
}

export interface RunEnvironment {
  readonly variables: Readonly<Record<string, RunVariable>>;
  /** Declared, but without a value. */
  readonly missing: readonly string[];
  /** Declared and configured, but not for a skill with this trust. */
  readonly withheld: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

type DeclaringSkill = Pick<Skill, "name" | "location"> & {
  readonly manifest: Pick<Skill["manifest"], "env">;
};

interface EnvironmentSources {
  readonly skill: DeclaringSkill;
  /** The user's config for this skill: `skillSettings(config, name)`. */
  readonly settings: { readonly env: Readonly<Record<string, EnvironmentValue>> };
  /** The caller's values for this run; they win. All are secret. */
  readonly given?: Readonly<Record<string, string>>;
}

export interface RunEnvironmentRequest extends EnvironmentSources {
  readonly trust: TrustDecision;
  /** Whether values from the user's config may reach the skill: `decideUserValues`. */
  readonly userValues: TrustDecision;
  /** Runs the programs that the config names as the source of a value. */
  readonly machine: SecretMachine;
}

interface MissingVariables {
  readonly names: readonly string[];
  /** What to add to the user's config file; empty if nothing is missing or a config file cannot name the skill. */
  readonly lines: readonly string[];
}

const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Runs nothing: a value that must be fetched counts as present. */
export function missingVariables({ skill, settings, given = {} }: EnvironmentSources): MissingVariables {
  const names = declaredNames(skill).filter((name) => {
    const configured = ownValue(settings.env, name);
    return !ownValue(given, name) && (!configured || ("value" in configured && configured.value === ""));
  });
  const [first] = names;
  const canBeNamed = first !== undefined && findField(["skills", skill.name, first]).ok;
  const table = `[${formatKeyPath(["skills", skill.name])}]`;
  return { names, lines: canBeNamed ? [table, ...names.map((name) => `${name} = "…"`)] : [] };
}

export async function resolveRunEnvironment(request: RunEnvironmentRequest): Promise<RunEnvironment> {
  const { skill, settings, given = {}, trust, userValues, machine } = request;
  const diagnostics = reportReserved(skill);
  const variables: Record<string, RunVariable> = {};
  const missing: string[] = [];
  const withheld: string[] = [];
  const mayReceive = trustAllows(trust.level, "receive-secrets");
  const mayReceiveUserValues = mayReceive && trustAllows(userValues.level, "receive-user-values");
  const fetch = fetchOnce(machine);
  for (const name of declaredNames(skill)) {
    const own = ownValue(given, name);
    const source = own ? { value: own, secret: true } : ownValue(settings.env, name);
    if (source && !(own ? mayReceive : mayReceiveUserValues)) {
      withheld.push(name);
      continue;
    }
    const read = source && (await readValue(source, fetch));
    if (read?.ok && read.value !== "")
      variables[name] = { value: read.value, secret: source?.secret ?? true };
    else missing.push(name);
    if (read?.ok === false) {
      const message = `\`${name}\` of \`${skill.name}\` has no value: ${read.refusal.message}`;
      diagnostics.push(report("error", "secret.unresolved", skill, message, read.refusal.hint));
    }
  }
  if (withheld.length > 0) {
    const { reason } = mayReceive ? userValues : trust;
    const names = withheld.map((name) => `\`${name}\``).join(", ");
    const message = `\`${skill.name}\` does not get ${names}. ${reason}`;
    const hint = "Only skills you trust get values from your config.";
    diagnostics.push(report("warning", "secret.not-allowed", skill, message, hint));
  }
  return { variables, missing, withheld, diagnostics };
}

type Fetch = (reference: SecretReference) => Promise<FetchedSecret>;

/** Two variables with the same source ask it once. */
function fetchOnce(machine: SecretMachine): Fetch {
  const known = new Map<string, Promise<FetchedSecret>>();
  return (reference) => {
    const { secret, ...source } = reference;
    const key = JSON.stringify(source);
    const fetching = known.get(key) ?? fetchSecret(reference, machine);
    known.set(key, fetching);
    return fetching;
  };
}

async function readValue(source: EnvironmentValue, fetch: Fetch): Promise<FetchedSecret> {
  const read = "value" in source ? done(source.value) : await fetch(source);
  return read.ok && read.value.includes("\0") ? NO_TEXT : read;
}

const NO_TEXT: FetchedSecret = refused({
  message: "The value contains a NUL character, which a variable cannot hold.",
  hint: "Store it in another form, for example base64.",
});

/** In the skill's order, without duplicates. */
function declaredNames({ manifest }: DeclaringSkill): readonly string[] {
  return [...new Set(manifest.env)].filter((name) => VARIABLE_NAME.test(name) && !isReservedVariable(name));
}

function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function reportReserved(skill: DeclaringSkill): Diagnostic[] {
  return [...new Set(skill.manifest.env)].filter(isReservedVariable).map((variable) => {
    const message = `\`${skill.name}\` declares \`${variable}\`, which controls how programs start; no skill may set it.`;
    const hint = "Use a different name under `env`.";
    return report("warning", "secret.reserved-name", skill, message, hint);
  });
}

function report(
  severity: Diagnostic["severity"],
  code: Diagnostic["code"],
  { location: path }: DeclaringSkill,
  message: string,
  hint: string,
): Diagnostic {
  return { code, severity, message, path, hint };
}

/**
 * Variables that control how programs start, what they load and whom they trust. Setting one would change every command
 * of a run, so a skill never gets any of them.
 */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  // the process and its shell
  ...["PATH", "HOME", "SHELL", "USER", "LOGNAME", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP"],
  ...["ENV", "IFS", "CDPATH", "GLOBIGNORE", "SHELLOPTS", "PROMPT_COMMAND", "PS4"],
  // the C library
  ...["GCONV_PATH", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH", "NLSPATH", "RES_OPTIONS"],
  // interpreters
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED"],
  ...["RUBYOPT", "RUBYLIB", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"],
  // programs started by programs
  ...["EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "SSH_ASKPASS"],
  ...["SUDO_ASKPASS", "SSH_AUTH_SOCK", "TERMINFO", "TERMINFO_DIRS", "TERMCAP"],
  // the network and whom it trusts
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "CURL_HOME", "CURL_CA_BUNDLE", "WGETRC"],
]);

/** Families that grow with the program. */
const RESERVED_PREFIXES: readonly string[] = [
  ...["BASH", "LD_", "DYLD_", "MALLOC_"],
  ...["GIT_", "NPM_CONFIG_", "PERL5", "PYTHON", "XDG_", "METIER_"],
];

export function isReservedVariable(name: string): boolean {
  return RESERVED_NAMES.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * Every secret in the config, whoever it is for: a run may encounter one that it was never given. Without those that
 * must be fetched, and without short ones, about which their users are warned.
 */
export function configuredSecrets({
  skills,
  models,
  capabilities,
  mcp,
}: Pick<Config, "skills" | "models" | "capabilities" | "mcp">): readonly Secret[] {
  const settings = Object.values(skills.settings);
  const providers = [
    ...settings.map(({ capabilityProvider }) => capabilityProvider),
    ...Object.values(capabilities.providers),
  ];
  const servers = Object.values(mcp.servers);
  const variables = [...settings, ...providers, ...servers].flatMap((owner) =>
    Object.entries(owner?.env ?? {}).flatMap(([name, source]) =>
      source.secret && "value" in source ? [{ name, value: source.value }] : [],
    ),
  );
  const keys = Object.entries(models).flatMap(([alias, { apiKey }]) =>
    apiKey === undefined ? [] : [{ name: `models.${alias}.api-key`, value: apiKey }],
  );
  const bearers = Object.entries(mcp.servers).flatMap(([label, { bearer }]) =>
    bearer?.secret && "value" in bearer ? [{ name: `mcp.servers.${label}.bearer`, value: bearer.value }] : [],
  );
  return [...variables, ...keys, ...bearers].filter(({ value }) => isLongEnough(value));
}

/** Runs a program without a shell; rejects if it cannot be run or fails. */
type SecretCommandRunner = (
  argv: readonly string[],
  options: { readonly timeoutMs: number },
) => Promise<{ readonly stdout: string }>;

export interface SecretMachine {
  readonly runCommand: SecretCommandRunner;
  readonly findCommand: CommandFinder;
  readonly platform: NodeJS.Platform;
}

interface SecretRefusal extends Refusal {
  readonly hint: string;
}

type FetchedSecret = Result<string, SecretRefusal>;

/** It may wait for a fingerprint or a passphrase, but nobody is prompted for one. */
const TIMEOUT_MS = 10_000;

type SecretReference = Exclude<EnvironmentValue, { readonly value: string }>;

/**
 * A value that the config only references: printed by a user's command, or stored in the system keychain. The program
 * is searched only on PATH and started without a shell. Its output appears in no message.
 */
export async function fetchSecret(
  reference: SecretReference,
  machine: SecretMachine,
): Promise<FetchedSecret> {
  const argv = "command" in reference ? reference.command : keychainCommand(reference.keychain, machine);
  if (argv === undefined) {
    return refused({
      message: `\`keychain\` is not supported on \`${machine.platform}\`.`,
      hint: 'Use `{ command = ["program", "argument"] }` with a program that prints the value.',
    });
  }
  const [name = "", ...rest] = argv;
  const program = name.startsWith("/") ? name : machine.findCommand(name);
  if (program === undefined) {
    return refused({
      message: `The program \`${name}\` is not on PATH.`,
      hint: `Install it or use its absolute path${"keychain" in reference ? '; or use `{ command = ["program", "argument"] }` instead' : ""}.`,
    });
  }
  try {
    const { stdout } = await machine.runCommand([program, ...rest], { timeoutMs: TIMEOUT_MS });
    const value = stdout.replace(/(?:\r?\n)+$/, "");
    if (value !== "") return done(value);
  } catch {
    // The program's output may contain the secret: only report that it failed.
  }
  return refused({
    message: `\`${name}\` failed, took longer than ${TIMEOUT_MS / 1000} seconds or printed nothing.`,
    hint: "Run it in a terminal: it must print only the value and exit with 0.",
  });
}

function keychainCommand(
  { service, account }: KeychainEntry,
  { platform }: SecretMachine,
): readonly string[] | undefined {
  if (platform === "darwin") return ["security", "find-generic-password", "-s", service, "-a", account, "-w"];
  if (platform === "linux") return ["secret-tool", "lookup", "service", service, "account", account];
  return undefined;
}
