/**
 * The variables that the processes of a run get beside the minimal environment: exactly those the skill declares, with
 * values from the user's config or the caller. The environment of Metier itself is never looked at.
 */
import type { EnvironmentValue } from "../config/config.ts";
import { findField } from "../config/find-field.ts";
import { formatKeyPath } from "../config/key-path.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Skill, TrustDecision } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { type FetchedSecret, fetchSecret, type SecretMachine, type SecretReference } from "./fetch-secret.ts";
import { isReservedVariable } from "./reserved-variables.ts";

export interface RunVariable {
  readonly value: string;
  readonly secret: boolean;
}

export interface RunEnvironment {
  readonly variables: Readonly<Record<string, RunVariable>>;
  /** Declared, but nothing gives them a value. */
  readonly missing: readonly string[];
  /** Declared and configured, but not for a skill of this trust. */
  readonly withheld: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

type DeclaringSkill = Pick<Skill, "name" | "location"> & {
  readonly manifest: Pick<Skill["manifest"], "env">;
};

export interface EnvironmentSources {
  readonly skill: DeclaringSkill;
  /** What the user's config has for this skill: `skillSettings(config, name)`. */
  readonly settings: { readonly env: Readonly<Record<string, EnvironmentValue>> };
  /** Values of the caller for this one run; they win. All are secret. */
  readonly given?: Readonly<Record<string, string>>;
}

export interface EnvironmentRequest extends EnvironmentSources {
  readonly trust: TrustDecision;
  /** Whether values of the user's config may reach the skill: `decideUserValues`. */
  readonly userValues: TrustDecision;
  /** Runs the programs that config names as the source of a value. */
  readonly machine: SecretMachine;
}

export interface MissingVariables {
  readonly names: readonly string[];
  /** What to add to the user's config file; empty when nothing is missing or a config file cannot name the skill. */
  readonly lines: readonly string[];
}

const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Without running anything: a value that is yet to be fetched counts as there. */
export function missingVariables({ skill, settings, given = {} }: EnvironmentSources): MissingVariables {
  const names = declaredNames(skill).filter((name) => {
    const configured = ownValue(settings.env, name);
    return !ownValue(given, name) && (!configured || ("value" in configured && configured.value === ""));
  });
  const [first] = names;
  const canBeNamed = first !== undefined && !("fault" in findField(["skills", skill.name, first]));
  const table = `[${formatKeyPath(["skills", skill.name])}]`;
  return { names, lines: canBeNamed ? [table, ...names.map((name) => `${name} = "…"`)] : [] };
}

export async function resolveRunEnvironment(request: EnvironmentRequest): Promise<RunEnvironment> {
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
    if (read?.ok === false) diagnostics.push(reportUnresolved(skill, name, read));
  }
  if (withheld.length > 0) {
    const { reason } = mayReceive ? userValues : trust;
    diagnostics.push(reportWithheld(skill, withheld, reason));
  }
  return { variables, missing, withheld, diagnostics };
}

type Fetch = (reference: SecretReference) => Promise<FetchedSecret>;
type Unresolved = Extract<FetchedSecret, { ok: false }>;

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
  const read: FetchedSecret = "value" in source ? { ok: true, value: source.value } : await fetch(source);
  return read.ok && read.value.includes("\0") ? NO_TEXT : read;
}

const NO_TEXT: Unresolved = {
  ok: false,
  message: "The value has a NUL character, which no variable can hold.",
  hint: "Give it in another form, for example as base64.",
};

/** In the order of the skill, each once. */
function declaredNames({ manifest }: DeclaringSkill): readonly string[] {
  return [...new Set(manifest.env)].filter((name) => VARIABLE_NAME.test(name) && !isReservedVariable(name));
}

function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function reportReserved({ name, location, manifest }: DeclaringSkill): Diagnostic[] {
  return [...new Set(manifest.env)].filter(isReservedVariable).map((variable) => ({
    code: "secret.reserved-name",
    severity: "warning",
    message: `\`${name}\` declares \`${variable}\`, which decides how programs start; no skill is given it.`,
    path: location,
    hint: "Use a name of the skill's own under `env`.",
  }));
}

function reportUnresolved(
  { name, location }: DeclaringSkill,
  variable: string,
  fault: Unresolved,
): Diagnostic {
  return {
    code: "secret.unresolved",
    severity: "error",
    message: `\`${variable}\` of \`${name}\` has no value: ${fault.message}`,
    path: location,
    hint: fault.hint,
  };
}

function reportWithheld(
  { name, location }: DeclaringSkill,
  names: readonly string[],
  reason: string,
): Diagnostic {
  return {
    code: "secret.not-allowed",
    severity: "warning",
    message: `\`${name}\` is not given ${names.map((variable) => `\`${variable}\``).join(", ")}. ${reason}`,
    path: location,
    hint: "Values of your config go to skills that you trust.",
  };
}
