/**
 * `metier config`: shows the settings and where they come from, or reads, writes or removes one key. Also `metier
 * enable` and `disable`, which write one line of it.
 */
import { join } from "node:path";
import { ConfigError, EXIT, UsageError } from "@metier/base/errors";
import { safeLine } from "@metier/base/text";
import type { Metier } from "@metier/runtime";
import type { Skill } from "@metier/skills";
import {
  addToConfigList,
  type ConfigRow,
  enablePlugin,
  explainConfig,
  findField,
  formatKeyPath,
  type LoadedConfig,
  parseConfigValue,
  parseKeyPath,
  removeFromConfigList,
  setConfigValue,
  unsetConfigValue,
} from "@metier/skills/config";
import type { Action } from "../commands/define.ts";
import type { ConfigFlags, EnableFlags } from "../commands/managing.ts";
import { type CliContext, endWith, err, reply, requireAction } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import type { Style } from "../output/style.ts";

/** Each action with the number of words it takes. */
const ACTIONS = {
  get: { words: 1, usage: "metier config get KEY", run: get },
  set: { words: 2, usage: "metier config set KEY VALUE", run: edit },
  unset: { words: 1, usage: "metier config unset KEY", run: edit },
  path: { words: 0, usage: "metier config path", run: paths },
  edit: { words: 0, usage: "metier config edit", run: openEditor },
} as const;

export const configAction: Action<ConfigFlags> = async (context, flags, ...words) => {
  const [name, ...rest] = words;
  const metier = await openMetier(context, flags, { autoDiscover: false });
  if (name === undefined) {
    showAll(context, flags, metier.config);
    return;
  }
  const action = requireAction("config", ACTIONS, name, "get, set, unset, path or edit");
  if (rest.length !== action.words) throw new UsageError(`Usage: \`${action.usage}\`.`);
  await action.run(context, flags, metier, ...(rest as [string, string]));
};

function showAll(context: CliContext, flags: ConfigFlags, config: LoadedConfig): void {
  const rows = explainConfig(config);
  const shown = flags.explain ? rows : rows.filter(({ origin }) => origin !== "default");
  if (config.diagnostics.some(({ severity }) => severity === "error")) endWith(context, EXIT.usage);
  const { layers, diagnostics } = config;
  const none = "Nothing is set. `metier config --explain` shows the defaults.";
  const text = (style: Style): string => (shown.length > 0 ? rowsText(shown, flags.explain, style) : none);
  reply(context, flags, { values: shown, layers, diagnostics }, text, diagnostics);
}

function rowsText(rows: readonly ConfigRow[], explain: boolean, style: Style): string {
  return rows
    .map(({ key, value, origin, tightens, overridden }) => {
      const line = `${style.bold(safeLine(key))} = ${safeLine(JSON.stringify(value))}`;
      if (!explain) return `${line}  ${style.dim(safeLine(origin))}`;
      const below = overridden.map(
        (lower) =>
          `    overrides ${safeLine(JSON.stringify(lower.value))}  ${style.dim(safeLine(lower.origin))}`,
      );
      return [
        line,
        `    ${tightens ? "tightened by" : "from"} ${style.dim(safeLine(origin))}`,
        ...below,
      ].join("\n");
    })
    .join("\n");
}

function get(context: CliContext, flags: ConfigFlags, { config }: Metier, key: string): void {
  const wanted = formatKeyPath(requireKey(key));
  const rows = explainConfig(config).filter((row) => row.key === wanted || row.key.startsWith(`${wanted}.`));
  if (rows.length === 0) endWith(context, EXIT.no);
  if (rows.length === 0 && !flags.json) err(context, `\`${wanted}\` is not set.`);
  const lines = rows.map(({ key: found, value }) =>
    safeLine(`${found === wanted ? "" : `${found} = `}${JSON.stringify(value)}`),
  );
  const json = rows.length === 1 && rows[0]?.key === wanted ? rows[0] : rows;
  reply(context, flags, json, () => lines.join("\n"));
}

/** Writes a value, or removes it if none is given. */
async function edit(
  context: CliContext,
  flags: ConfigFlags,
  metier: Metier,
  key: string,
  text?: string,
): Promise<void> {
  const path = requireKey(key);
  const { file, target } = configFileFor(metier, flags.project);
  const changed =
    text === undefined
      ? await unsetConfigValue({ file, target, path })
      : await setConfigValue({ file, target, path, value: parseConfigValue(path, text) });
  const done = text === undefined ? "removed from" : "written to";
  const json = { key: formatKeyPath(path), file, changed };
  reply(context, flags, json, () => safeLine(`${json.key}: ${changed ? done : "no change in"} ${file}`));
}

async function openEditor(context: CliContext, flags: ConfigFlags, metier: Metier): Promise<void> {
  const { editConfig } = await import("./config-edit.ts");
  await editConfig(context, flags, metier, configFileFor(metier, flags.project).file);
}

function paths(context: CliContext, flags: ConfigFlags, { config }: Metier): void {
  const lines = config.layers.map(({ layer, where, status }) =>
    safeLine(`${layer.padEnd(11)} ${status.padEnd(14)} ${where}`),
  );
  reply(context, flags, config.layers, () => lines.join("\n"));
}

function requireKey(key: string): readonly string[] {
  const path = parseKeyPath(key);
  if (path === undefined)
    throw new ConfigError(`\`${key}\` is not a config key.`, undefined, {
      hint: "Use a dotted key, such as `skills.paths`.",
    });
  const found = findField(path);
  if (found.ok) return found.value.segments;
  throw new ConfigError(found.refusal.message, undefined, { hint: found.refusal.hint || undefined });
}

export const enableAction: Action<EnableFlags> = (context, flags, ...names) =>
  change(context, flags, names, true);

export const disableAction: Action<EnableFlags> = (context, flags, ...names) =>
  change(context, flags, names, false);

async function change(
  context: CliContext,
  flags: EnableFlags,
  names: readonly string[],
  enabled: boolean,
): Promise<void> {
  const metier = await openMetier(context, flags);
  const skills = names.map((name) => metier.require(name).name);
  const { file, target } = configFileFor(metier, flags.project);
  for (const name of skills) {
    const edit = { file, target, item: name };
    const path = ["skills", name, "enabled"];
    // `[skills.paths]` would be the list of paths, so a skill with such a name is enabled and disabled only by list.
    const isReserved = !findField(path).ok;
    if (!isReserved) await setConfigValue({ file, target, path, value: enabled });
    else if (!enabled) await addToConfigList({ ...edit, path: ["skills", "disabled"] });
    if (target === "user") await enablePlugin(file, name, enabled);
    if (!enabled) continue;
    for (const list of ["disabled", "disabled-bundled"])
      await removeFromConfigList({ ...edit, path: ["skills", list] });
  }
  const after = await metier.reload();
  const changed = skills.map((name) => after.require(name));
  const isDone = ({ status }: Skill): boolean => (status !== "disabled") === enabled;
  if (!changed.every(isDone)) endWith(context, EXIT.no);
  const json = changed.map(({ name, status, reason }) => ({ name, status, reason: reason || undefined }));
  const lines = changed.map((skill) => {
    const reason = enabled && skill.reason ? `: ${skill.reason}` : "";
    return safeLine(`${skill.name} is ${isDone(skill) ? "" : "still "}${skill.status}${reason} (${file})`);
  });
  reply(context, flags, { file, skills: json }, () => lines.join("\n"));
}

/** The project's config file, or `.metier/config.toml` at the project's root if there is none. */
function configFileFor(
  { places, project, config }: Metier,
  forProject: boolean,
): { readonly file: string; readonly target: "user" | "project" } {
  if (!forProject) return { file: places.configFile, target: "user" };
  return {
    file: config.projectFile?.path ?? join(project.root, ".metier", "config.toml"),
    target: "project",
  };
}
