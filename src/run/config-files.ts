/** The config files that were read: a run must not read them, since keys and values stand in them. */
import type { LoadedConfig } from "../config/config.ts";

const FILE_LAYERS: ReadonlySet<string> = new Set(["preset", "user", "project", "policy"]);

export function configFilesOf({ layers }: Pick<LoadedConfig, "layers">): readonly string[] {
  return layers
    .filter(({ layer, status }) => FILE_LAYERS.has(layer) && status !== "absent")
    .map(({ where }) => where);
}
