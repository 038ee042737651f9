/** Which config file a command writes: the user's own, or with `--project` the project's. */
import { join } from "node:path";
import type { Metier } from "../runtime/create-metier.ts";

export interface ConfigTarget {
  readonly file: string;
  readonly target: "user" | "project";
}

/** The project's file is the one that is read; where there is none, `.metier/config.toml` at the project's root. */
export function configFileFor({ places, project, config }: Metier, forProject: boolean): ConfigTarget {
  if (!forProject) return { file: places.configFile, target: "user" };
  return {
    file: config.projectFile?.path ?? join(project.root, ".metier", "config.toml"),
    target: "project",
  };
}
