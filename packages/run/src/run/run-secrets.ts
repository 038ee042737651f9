/** A run's values: how they are fetched on this machine, who may have them, and the one gate that keeps them secret. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { folderName } from "@metier/base/files";
import { type Places, projectFolders } from "@metier/base/places";
import { type CommandFinder, createOutsideFinder, type Environment } from "@metier/base/programs";
import { buildWorld, chooseSandbox, findPrograms, runProcess } from "@metier/sandbox";
import {
  configuredSecrets,
  createRedactor,
  isLongEnough,
  type Redactor,
  type Secret,
  type SecretMachine,
} from "@metier/sandbox/secrets";
import { hasFolder, type Skill, type Trust } from "@metier/skills";
import type { ConversationMemory } from "../invoke/conversation-trust.ts";
import { dataOwner, type PreparedInvocation } from "../invoke/invocation.ts";
import type { CommandPlace } from "../invoke/render-body.ts";
import type { RunParent } from "./run-context.ts";
import type { PrepareOptions, RunHost, RunRequest } from "./run-request.ts";

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

type OwnCommand = (
  argv: readonly string[],
  options?: { readonly timeoutMs?: number },
) => Promise<{ readonly stdout: string }>;

/** Where the user's own programs are searched: not in the project, which may contain one with the same name. */
export interface OwnPlace {
  readonly environment: Environment;
  /** The program's folder, and the folder a run works on, if any. */
  readonly base: string;
  readonly cwd?: string | undefined;
  readonly places: Pick<Places, "home">;
}

function findOwn({ environment, base, cwd, places: { home } }: OwnPlace): CommandFinder {
  const outside = (folder: string): CommandFinder =>
    createOutsideFinder(environment, { project: projectFolders(folder, home).root, home });
  const find = outside(base);
  if (cwd === undefined || cwd === base) return find;
  const findAlso = outside(cwd);
  return (name) => {
    const found = find(name);
    return found === findAlso(name) ? found : undefined; // If in doubt, none: one of the two folders may contain it.
  };
}

/**
 * Runs programs from the user's own config (a key command, a password store): without a shell, with the user's
 * environment. Rejects if one can't be run, fails or takes too long. Its output is in no message, because it may be a
 * secret.
 */
export function createOwnCommand(place: OwnPlace): OwnCommand {
  const { environment } = place;
  return async ([name = "", ...args], { timeoutMs = TIMEOUT_MS } = {}) => {
    const program = name.startsWith("/") ? name : findOwn(place)(name);
    if (program === undefined) throw new Error(`\`${name}\` is not on PATH`);
    const env = Object.fromEntries(
      Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const limits = { timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES };
    const { ended, exitCode, stdout } = await runProcess({ program, args, env, limits });
    if (ended === "exited" && exitCode === 0) return { stdout };
    throw new Error(`\`${name}\` ${ended === "exited" ? `exited with ${exitCode}` : ended}`);
  };
}

/**
 * What preparing an invocation needs from the machine: a way to fetch secrets, and a place for commands in a skill's
 * text.
 */
export function createSecretMachine(place: OwnPlace): SecretMachine {
  return {
    runCommand: createOwnCommand(place),
    findCommand: (name) => findOwn(place)(name),
    platform: process.platform,
  };
}

/** Returns a word instead of each value that would be fetched. */
export const DRY_MACHINE: SecretMachine = {
  runCommand: () => Promise.resolve({ stdout: "not fetched" }),
  findCommand: (name) => name,
  platform: process.platform,
};

/** The sandbox for commands of this trust, by the config. */
export function sandboxFor(
  trust: Trust,
  { config, places, environment }: Pick<RunHost, "config" | "places" | "environment">,
): ReturnType<typeof chooseSandbox> {
  const { sandbox: limits } = config();
  const programs = findPrograms(limits.programs, places, environment);
  return chooseSandbox({ backend: limits.backend, trust, environment, programs, limits });
}

/**
 * Reads what a trusted run reads. Its folder isn't a run's work folder, and isn't shared with other users' commands.
 */
export async function findCommandPlace(
  skill: Skill,
  host: RunHost,
  { privateFiles = [], signal, caller }: PrepareOptions["request"],
): Promise<CommandPlace | undefined> {
  const { configFiles, places, cwd } = host;
  const { sandbox } = await sandboxFor(skill.trust.level, host);
  if (!sandbox) return undefined;
  const owner = dataOwner(caller);
  const workDir = join(
    places.state,
    "dynamic-context",
    owner === undefined ? "own" : `user-${folderName(owner)}`,
  );
  mkdirSync(workDir, { recursive: true, mode: 0o700 });
  const { world } = buildWorld({
    trust: skill.trust.level,
    cwd,
    workDir,
    write: false,
    places,
    privateFiles: [...configFiles(), ...privateFiles],
    skillDir: hasFolder(skill) ? skill.directory : undefined,
  });
  return { sandbox, world, signal };
}

interface RedactorInput {
  readonly request: Pick<RunRequest, "env">;
  readonly host: Pick<RunHost, "config" | "env">;
  readonly parent?: Pick<RunParent, "redactor"> | undefined;
}

/** One redaction gate for a run or script and everything it starts: what one was given, another may come across. */
export function openRedactor(
  prepared: Pick<PreparedInvocation, "env">,
  { request, host, parent }: RedactorInput,
): Redactor {
  const redactor = parent?.redactor ?? createRedactor(configuredSecrets(host.config()));
  for (const [name, { value, secret }] of Object.entries(prepared.env)) {
    if (secret) redactor.add({ name, value });
  }
  for (const secret of givenSecrets({ ...host.env, ...request.env })) {
    // Not given to the skill, but in a file that the user named, or of the user it runs for.
    if (!(secret.name in prepared.env)) redactor.add(secret);
  }
  return redactor;
}

/** Values that a program passed for variables, whoever declares them; too short a value can't be told from words. */
export function givenSecrets(env: RunRequest["env"] = {}): readonly Secret[] {
  return Object.entries(env).flatMap(([name, value]) => (isLongEnough(value) ? [{ name, value }] : []));
}

/** Declared variables with their values; once the conversation contains untrusted text, no secrets. */
export function deliverValues(
  { env }: Pick<PreparedInvocation, "env">,
  memory?: Pick<ConversationMemory, "trust">,
): Readonly<Record<string, string>> {
  const isTainted = memory?.trust.taintedBy !== undefined;
  const given = Object.entries(env).filter(([, { secret }]) => !(secret && isTainted));
  return Object.fromEntries(given.map(([name, { value }]) => [name, value]));
}
