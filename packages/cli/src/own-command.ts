/** How this program is started again, from anywhere: for a client's config, for a shell's completion. */
import { realpathSync } from "node:fs";
import { delimiter, sep } from "node:path";
import { isInside } from "@metier/base/places";
import { createCommandFinder } from "@metier/base/programs";
import type { CliIo } from "./context.ts";

/**
 * `metier` where the PATH has it for everyone; `npx -y metier` when npx brought it; otherwise Node and the file itself.
 * npm and npx put folders on the PATH of what they start, which others don't have; a project's folders don't count either.
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
    return file; // Removed since it was started: its name is all there is.
  }
}
