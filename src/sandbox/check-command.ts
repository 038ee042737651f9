/** What no backend can start: said before anything happens, and the same for all of them. */
import type { CommandOutcome, SandboxCommand } from "./sandbox.ts";
import { isVisible } from "./world-access.ts";

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why a command is refused, or nothing. */
export function checkCommand({ argv, env, cwd, world }: SandboxCommand): string | undefined {
  if (argv.length === 0 || argv[0] === "") return "There is no command.";
  if (argv.some((word) => word.includes("\0")))
    return "The command has a NUL character, which no program can be given.";
  for (const [name, value] of Object.entries(env)) {
    if (!VARIABLE_NAME.test(name)) return `\`${name}\` is no name for a variable.`;
    if (value.includes("\0"))
      return `The variable \`${name}\` has a NUL character, which no program can be given.`;
  }
  if (cwd !== undefined && !isVisible(world, cwd)) return `\`${cwd}\` is not in the world of this run.`;
  return undefined;
}

export function refuse(reason: string): CommandOutcome {
  return { ended: "refused", stdout: "", stderr: "", droppedBytes: 0, durationMs: 0, reason };
}
