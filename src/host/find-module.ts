/** From `toolsets/index` to the file of code that is meant, through the gate to a skill's files. */
import { openContained, withContained } from "./open-contained.ts";

/** In the order they are tried where the ending is left out. */
export const MODULE_ENDINGS: readonly string[] = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

export type ModuleFinding =
  | { readonly ok: true /** Absolute, links resolved. */; readonly file: string }
  | { readonly ok: false /** Begins in lower case. */; readonly message: string };

/** `realFolder` must be a real path, as for `openContained`. */
export function findModule(realFolder: string, path: string): ModuleFinding {
  const isWhole = MODULE_ENDINGS.some((ending) => path.endsWith(ending));
  const bases = path.endsWith("/") ? [`${path}index`] : [path, `${path}/index`];
  const candidates = isWhole
    ? [path]
    : bases.flatMap((base) => MODULE_ENDINGS.map((ending) => base + ending));
  for (const candidate of candidates) {
    const opened = withContained(openContained(realFolder, candidate), ({ realPath }) => realPath);
    if (typeof opened === "string") return { ok: true, file: opened };
    if (isWhole || opened.reason !== "missing") return { ok: false, message: opened.message };
  }
  const tried = MODULE_ENDINGS.map((ending) => `\`${ending}\``).join(", ");
  const message = `\`${path}\` is no module of the skill: there is no such file with the ending ${tried}, and no \`index\` in a folder of that name.`;
  return { ok: false, message };
}
