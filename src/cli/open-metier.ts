/** From the common options to a `Metier` as the command line wants it: bundled skills, trust by grants, no throwing. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../foundation/errors.ts";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { MetierOptions } from "../runtime/metier-options.ts";
import type { CommonFlags } from "./common-flags.ts";
import type { CliContext } from "./context.ts";

export function workingDirectory({ io }: CliContext, { cwd }: CommonFlags): string {
  const folder = resolve(io.cwd, cwd ?? ".");
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`\`--cwd ${cwd}\` is not a folder.`, { hint: "Name an existing folder." });
  }
  return folder;
}

/** The home folder: `--home`, then `METIER_HOME`, then the OS's. */
export function homeFolder({ io }: CliContext, { home }: CommonFlags): string | undefined {
  const folder = home ?? io.environment.METIER_HOME;
  return folder ? resolve(io.cwd, folder) : undefined;
}

export function openMetier(
  context: CliContext,
  flags: CommonFlags,
  more: MetierOptions = {},
): Promise<Metier> {
  const { io } = context;
  const home = homeFolder(context, flags);
  const cwd = workingDirectory(context, flags);
  return createMetier({
    cwd,
    environment: io.environment,
    trust: "grants",
    conflicts: "report",
    bundled: "unless-disabled",
    ...(home !== undefined && { home }),
    ...(flags.config !== undefined && { configFile: resolve(cwd, flags.config) }),
    ...(flags.preset !== undefined && { preset: flags.preset }),
    ...(flags.path !== undefined && { paths: flags.path.map((path) => resolve(cwd, path)) }),
    ...(flags.profile !== undefined && { profile: flags.profile }),
    ...more,
  });
}
