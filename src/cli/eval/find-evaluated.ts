/** Which skills are evaluated, by name or path, and how a `Metier` is opened for each of their runs. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { OpenMetier } from "../../evals/arms.ts";
import { UsageError } from "../../foundation/errors.ts";
import { isInside } from "../../host/places.ts";
import { realPathOr } from "../../host/project-folders.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { Skill } from "../../skill/skill.ts";
import { askForTrust } from "../ask-for-trust.ts";
import type { CommonFlags } from "../common-flags.ts";
import type { CliContext } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";

export interface EvaluatedCatalog {
  readonly metier: Metier;
  /** By name, or by path of its folder or file. Throws when there is none. */
  find(text: string): Skill;
  /** The same, and for a folder of skills those in it that `isWanted`. */
  findAll(text: string, isWanted: (skill: Skill) => boolean): readonly Skill[];
  /** For runs: over the same home and config. */
  readonly open: OpenMetier;
}

/** `named` are those the command line names: the ones that are paths are looked at, too. */
export async function openEvaluated(
  context: CliContext,
  flags: CommonFlags,
  named: readonly string[],
): Promise<EvaluatedCatalog> {
  const cwd = workingDirectory(context, flags);
  const isPath = (text: string): boolean => /[/\\]/.test(text) || existsSync(resolve(cwd, text));
  const paths = [...(flags.path ?? []), ...named.filter(isPath)].map((path) => resolve(cwd, path));
  const opened = await openMetier(context, flags, paths.length > 0 ? { paths } : {});
  const metier = await askForTrust(context, flags, opened);
  const { projectFile } = metier.config;
  return {
    metier,
    find: (text) => (isPath(text) ? requireAt(metier, resolve(cwd, text)) : metier.require(text)),
    findAll(text, isWanted) {
      if (!isPath(text)) return [metier.require(text)];
      const path = resolve(cwd, text);
      const below = findAt(metier, path) ? [] : findBelow(metier, path);
      return below.length > 0 ? below.filter(isWanted) : [requireAt(metier, path)];
    },
    open: (options) =>
      openMetier(context, flags, {
        paths: [],
        ...(projectFile?.granted && { configFile: projectFile.path }),
        ...options,
      }),
  };
}

/** The same folder may be found twice, as a project's and by its path: the one that is trusted counts. */
function findAt({ catalog }: Metier, path: string): Skill | undefined {
  const real = realPathOr(path);
  const found = catalog.all.filter(
    ({ directory, location, form }) =>
      realPathOr(location) === real || (form === "directory" && realPathOr(directory) === real),
  );
  return found.find(({ trust }) => trust.level === "trusted") ?? found[0];
}

function requireAt(metier: Metier, path: string): Skill {
  const skill = findAt(metier, path);
  if (skill) return skill;
  throw new UsageError(`There is no skill at \`${path}\`.`, {
    hint: "Name the folder that holds its `SKILL.md`; `metier validate` says what is wrong with one.",
  });
}

/** Each once, by the path of its file. */
function findBelow(metier: Metier, path: string): readonly Skill[] {
  const real = realPathOr(path);
  const files = metier.catalog.all
    .filter(({ location }) => location !== "")
    .map(({ location }) => realPathOr(location))
    .filter((file) => isInside(file, real));
  return [...new Set(files)].map((file) => requireAt(metier, file));
}
