/** The variables every process of a run gets, sandboxed or not. Nothing of Metier's own environment is among them. */
import type { World } from "./world.ts";

export function minimalEnvironment(
  { workDir, skillDir }: World,
  { path, temporary }: { readonly path: string; readonly temporary: string },
): Record<string, string> {
  return {
    PATH: path,
    HOME: workDir,
    LANG: "C.UTF-8",
    TERM: "dumb",
    TMPDIR: temporary,
    METIER_WORK_DIR: workDir,
    ...(skillDir !== undefined && { METIER_SKILL_DIR: skillDir }),
  };
}
