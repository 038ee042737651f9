/** How to start this program again from anywhere, for a client's config or a shell's completion. */
import { realpathSync } from "node:fs";
import { delimiter, sep } from "node:path";
import { isInside } from "@metier/base/places";
import { createCommandFinder } from "@metier/base/programs";
import type { CliIo } from "./context.ts";

/**
 * `metier` if everyone's PATH has it; `npx -y metier` if npx started it; otherwise Node and the file itself. Ignores
 * folders that npm and npx add to the PATH of their children, and folders of a project.
 */
export function ownCommand({ environment, program, cwd }: CliIo): readonly string[] {
  const PATH = (environment.PATH ?? "")
    .split(delimiter)
    .filter((entry) => !entry.endsWith(`${sep}node_modules${sep}.bin`) && !isInside(entry, cwd))
    .join(delimiter);
  if (program === undefined || createCommandFinder({ ...environment, PATH })("metier") !== undefined)
    return ["metier"];
  const [node = "", file = ""] = program;
  const real = realOr(file);
  return real.includes(`${sep}_npx${sep}`) ? ["npx", "-y", "metier"] : [node, real];
}

function realOr(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // Removed since it was started, so only its name is left.
  }
}
