/** What preparing an invocation needs of the machine: a way to fetch secrets, and a place for commands in a skill's text. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "../config/config.ts";
import { hasFolder } from "../disclose/skill-folder.ts";
import { createCommandFinder, type Environment } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";
import type { CommandPlace } from "../invoke/dynamic-context.ts";
import { buildWorld } from "../sandbox/build-world.ts";
import { chooseSandbox } from "../sandbox/choose-sandbox.ts";
import { findPrograms } from "../sandbox/programs.ts";
import type { SecretMachine } from "../secrets/fetch-secret.ts";
import type { Skill } from "../skill/skill.ts";
import { configFilesOf } from "./config-files.ts";
import { createOwnCommand } from "./own-command.ts";

export function createSecretMachine(environment: Environment): SecretMachine {
  return {
    runCommand: createOwnCommand(environment),
    findCommand: (name) => createCommandFinder(environment)(name),
    platform: process.platform,
  };
}

/** Gives a word in place of each value that would have to be fetched. */
export const DRY_MACHINE: SecretMachine = {
  runCommand: () => Promise.resolve({ stdout: "not fetched" }),
  findCommand: (name) => name,
  platform: process.platform,
};

export interface CommandPlaceInput {
  readonly skill: Skill;
  readonly places: Places;
  readonly cwd: string;
  readonly environment: Environment;
  readonly loaded: LoadedConfig;
  readonly privateFiles?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads what a trusted run reads, and keeps nothing: its folder is shared and no one's work. */
export async function findCommandPlace(input: CommandPlaceInput): Promise<CommandPlace | undefined> {
  const { skill, places, cwd, environment, loaded, privateFiles = [], signal } = input;
  const { backend, programs } = loaded.config.sandbox;
  const { sandbox } = await chooseSandbox({
    backend,
    trust: skill.trust.level,
    environment,
    programs: findPrograms(programs, places, environment),
    limits: loaded.config.sandbox,
  });
  if (!sandbox) return undefined;
  const workDir = join(places.state, "dynamic-context");
  mkdirSync(workDir, { recursive: true, mode: 0o700 });
  const { world } = buildWorld({
    trust: skill.trust.level,
    cwd,
    workDir,
    write: false,
    places,
    privateFiles: [...configFilesOf(loaded), ...privateFiles],
    ...(hasFolder(skill) && { skillDir: skill.directory }),
  });
  return { sandbox, world, ...(signal && { signal }) };
}
