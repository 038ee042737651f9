/**
 * No sandbox at all, for who says so in the config: the same minimal environment, limits and endings, but a command can
 * read, write and reach whatever the user can. `choose-sandbox.ts` alone decides whether this may be used.
 */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { createCommandFinder } from "../host/find-command.ts";
import { checkCommand, refuse } from "./check-command.ts";
import { minimalEnvironment } from "./minimal-environment.ts";
import { placeClient } from "./place-client.ts";
import { findByEnvironment } from "./process-tree.ts";
import { type BroughtPrograms, NO_PROGRAMS, searchPath } from "./programs.ts";
import { withRlimits } from "./rlimits.ts";
import { runProcess } from "./run-process.ts";
import type { Sandbox } from "./sandbox.ts";
import { ownFolders } from "./work-folders.ts";

/** Processes that left the tree are found by it. */
const MARK = "METIER_COMMAND_ID";

export interface UnsandboxedParts {
  readonly prlimit?: string;
  readonly programs?: BroughtPrograms;
}

/** Has the user's own network: an `egressSocket` would hold nothing, and is ignored. */
export function createUnsandboxed({ prlimit, programs = NO_PROGRAMS }: UnsandboxedParts = {}): Sandbox {
  const bins = [process.execPath, ...Object.values(programs.files)].map((file) => dirname(file));
  return {
    backend: "none",
    runsPrograms: true,
    async run(command) {
      const wrong = checkCommand(command);
      if (wrong !== undefined) return refuse(wrong);
      const { argv, world, stdin, signal, onOutput, limits, capabilitySocket: socket } = command;
      const path = searchPath([...(socket === undefined ? [] : [placeClient(socket)]), ...bins], programs);
      const id = randomUUID();
      const env = { ...minimalEnvironment(world, { path, temporary: tmpdir() }), ...command.env, [MARK]: id };
      const [name = "", ...words] = argv;
      const program = name.includes("/") ? name : createCommandFinder(env)(name);
      if (program === undefined) {
        const stderr = `${name}: No such file or directory\n`;
        return { ended: "exited", exitCode: 127, stdout: "", stderr, droppedBytes: 0, durationMs: 0 };
      }
      const [started = program, ...args] = withRlimits(prlimit, limits, [program, ...words]);
      return runProcess({
        program: started,
        args,
        env,
        cwd: command.cwd ?? world.cwd,
        limits,
        folders: ownFolders(world),
        findStrays: () => findByEnvironment(`${MARK}=${id}`),
        ...(stdin !== undefined && { stdin }),
        ...(signal && { signal }),
        ...(onOutput && { onOutput }),
      });
    },
  };
}
