/** The variables every process of a run gets, sandboxed or not. Nothing of Metier's own environment is among them. */
import { placedVariables } from "./placed-folders.ts";
import type { World } from "./world.ts";

export function minimalEnvironment(
  world: World,
  { path, temporary }: { readonly path: string; readonly temporary: string },
): Record<string, string> {
  const { workDir, skillDir, dataDir } = world;
  return {
    PATH: path,
    HOME: workDir,
    LANG: "C.UTF-8",
    TERM: "dumb",
    TMPDIR: temporary,
    METIER_WORK_DIR: workDir,
    ...(skillDir !== undefined && { METIER_SKILL_DIR: skillDir }),
    ...(dataDir !== undefined && { METIER_DATA_DIR: dataDir }),
    ...placedVariables(world),
  };
}
