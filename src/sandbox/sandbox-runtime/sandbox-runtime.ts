/**
 * The sandbox-runtime backend: Seatbelt on macOS, bubblewrap with a profile of its own on Linux. It is told by places what
 * a command must not read, gives no network whatever was granted, and refuses a world that it cannot hold.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { refreshWorld } from "../build-world.ts";
import { whyNoCapabilities } from "../capability-socket.ts";
import { checkCommand, refuse } from "../check-command.ts";
import { minimalEnvironment } from "../minimal-environment.ts";
import { type BroughtPrograms, searchPath } from "../programs.ts";
import { quoteWord } from "../quote-word.ts";
import { withRlimits } from "../rlimits.ts";
import { runProcess } from "../run-process.ts";
import type { CommandOutcome, Sandbox, SandboxCommand } from "../sandbox.ts";
import { readSignal } from "../signal-exit.ts";
import { ownFolders } from "../work-folders.ts";
import type { SandboxRuntime } from "./find-package.ts";
import { buildRuntimePolicy, whyNotHeld } from "./runtime-policy.ts";

export interface SandboxRuntimeParts {
  readonly runtime: SandboxRuntime;
  readonly prlimit?: string;
  readonly programs: BroughtPrograms;
}

const SHELL = "/bin/sh";

export function createSandboxRuntime({ runtime, prlimit, programs }: SandboxRuntimeParts): Sandbox {
  const files = [process.execPath, ...Object.values(programs.files)];
  const brought = [...files, ...programs.folders, join(runtime.folder, "vendor")];
  const path = searchPath(
    files.map((file) => dirname(file)),
    programs,
  );

  const runIn = async (command: SandboxCommand, temporary: string): Promise<CommandOutcome> => {
    const { stdin, signal, onOutput, limits } = command;
    const world = refreshWorld(command.world);
    const policy = buildRuntimePolicy(world, brought, temporary);
    const fault = whyNotHeld(world, policy);
    if (fault !== undefined) return refuse(`The sandbox-runtime backend cannot hold this run: ${fault}.`);
    const wrapped = await runtime.wrap(command.argv.map(quoteWord).join(" "), SHELL, policy);
    try {
      const [program = SHELL, ...args] = withRlimits(prlimit, limits, [SHELL, "-c", wrapped]);
      const outcome = await runProcess({
        program,
        args,
        env: { ...minimalEnvironment(world, { path, temporary }), ...command.env },
        cwd: command.cwd ?? world.cwd,
        limits,
        folders: ownFolders(world),
        ...(stdin !== undefined && { stdin }),
        ...(signal && { signal }),
        ...(onOutput && { onOutput }),
      });
      return readSignal(outcome);
    } finally {
      runtime.release();
    }
  };

  return {
    backend: "sandbox-runtime",
    runsPrograms: true,
    async run(command) {
      const wrong = checkCommand(command);
      if (wrong !== undefined) return refuse(wrong);
      if (command.capabilitySocket !== undefined) return refuse(whyNoCapabilities("sandbox-runtime"));
      const temporary = mkdtempSync(join(realpathSync(tmpdir()), "metier-"));
      try {
        return await runIn(command, temporary);
      } catch (error) {
        return refuse(`sandbox-runtime cannot make a sandbox: ${(error as Error).message}`);
      } finally {
        rmSync(temporary, { recursive: true, force: true });
      }
    },
  };
}
