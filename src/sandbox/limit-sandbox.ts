/**
 * Holds every command of a sandbox to what the config allows, whoever starts it and whatever they ask for: what they ask
 * for themselves counts where it is less. No tool, hook or toolset is given a sandbox without this.
 */
import type { SandboxConfig } from "../config/config.ts";
import { refuse } from "./check-command.ts";
import type { Sandbox, SandboxLimits } from "./sandbox.ts";
import { ownFolders, whyTooFull } from "./work-folders.ts";

export type AllowedLimits = Pick<SandboxConfig, "memoryMb" | "processes" | "workMb">;

const MEGABYTE = 1024 * 1024;

export function limitSandbox(sandbox: Sandbox, { memoryMb, processes, workMb }: AllowedLimits): Sandbox {
  const maxWorkBytes = workMb * MEGABYTE;
  const lower = (asked: SandboxLimits): Required<SandboxLimits> => ({
    ...asked,
    maxProcesses: Math.min(processes, asked.maxProcesses ?? processes),
    maxMemoryBytes: Math.min(memoryMb * MEGABYTE, asked.maxMemoryBytes ?? Number.POSITIVE_INFINITY),
    maxWorkBytes: Math.min(maxWorkBytes, asked.maxWorkBytes ?? maxWorkBytes),
    maxFileBytes: Math.min(maxWorkBytes, asked.maxFileBytes ?? maxWorkBytes),
  });
  return {
    ...sandbox,
    async run(command) {
      const limits = lower(command.limits);
      const full = await whyTooFull(ownFolders(command.world), limits.maxWorkBytes);
      if (full !== undefined) return refuse(`${full} Nothing is run until there is less.`);
      return sandbox.run({ ...command, limits });
    },
  };
}
