/** `metier config`: what is configured and where it came from; or one key read, written or removed. */

import type { LoadedConfig } from "../../config/config.ts";
import { parseConfigValue, setConfigValue, unsetConfigValue } from "../../config/edit-config.ts";
import { type ConfigRow, explainConfig } from "../../config/explain-config.ts";
import { findField } from "../../config/find-field.ts";
import { formatKeyPath, parseKeyPath } from "../../config/key-path.ts";
import { ConfigError, UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { CommonFlags } from "../common-flags.ts";
import { configFileFor } from "../config-file.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { type Style, safeLine, styleFor } from "../output/style.ts";

interface ConfigFlags {
  readonly explain?: boolean;
  readonly project?: boolean;
}

type Flags = ConfigFlags & CommonFlags;

/** Each action with the number of words behind it. */
const ACTIONS = {
  get: { words: 1, usage: "metier config get KEY", run: get },
  set: { words: 2, usage: "metier config set KEY VALUE", run: set },
  unset: { words: 1, usage: "metier config unset KEY", run: unset },
  path: { words: 0, usage: "metier config path", run: paths },
} as const;

export async function run(context: CliContext, flags: Flags, ...words: readonly string[]): Promise<void> {
  const [name, ...rest] = words;
  const metier = await openMetier(context, flags, { autoDiscover: false });
  if (name === undefined) {
    showAll(context, flags, metier.config);
    return;
  }
  if (!Object.hasOwn(ACTIONS, name)) {
    throw new UsageError(`\`${name}\` is no action of \`metier config\`.`, {
      hint: "Use get, set, unset or path.",
    });
  }
  const action = ACTIONS[name as keyof typeof ACTIONS];
  if (rest.length !== action.words) throw new UsageError(`Usage: \`${action.usage}\`.`);
  await action.run(context, flags, metier, ...(rest as [string, string]));
}

function showAll(context: CliContext, flags: Flags, config: LoadedConfig): void {
  const rows = explainConfig(config);
  const shown = flags.explain ? rows : rows.filter(({ origin }) => origin !== "default");
  if (config.diagnostics.some(({ severity }) => severity === "error")) endWith(context, EXIT.usage);
  if (flags.json) {
    outJson(context, { values: shown, layers: config.layers, diagnostics: config.diagnostics });
    return;
  }
  const style = styleFor(context.io.color);
  out(
    context,
    shown.length > 0
      ? rowsText(shown, flags.explain ?? false, style)
      : "Nothing is set; every value is the default (`--explain` shows them).",
  );
  err(context, config.diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
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

function get(context: CliContext, flags: Flags, { config }: Metier, key: string): void {
  const wanted = formatKeyPath(requireKey(key));
  const rows = explainConfig(config).filter((row) => row.key === wanted || row.key.startsWith(`${wanted}.`));
  if (rows.length === 0) endWith(context, EXIT.no);
  if (flags.json) outJson(context, rows.length === 1 && rows[0]?.key === wanted ? rows[0] : rows);
  else if (rows.length === 0) err(context, `\`${wanted}\` is not set.`);
  else
    out(
      context,
      rows
        .map((row) =>
          row.key === wanted ? JSON.stringify(row.value) : `${row.key} = ${JSON.stringify(row.value)}`,
        )
        .map(safeLine)
        .join("\n"),
    );
}

async function set(
  context: CliContext,
  flags: Flags,
  metier: Metier,
  key: string,
  text: string,
): Promise<void> {
  const path = requireKey(key);
  const { file, target } = configFileFor(metier, flags.project ?? false);
  const value = parseConfigValue(path, text);
  const changed = await setConfigValue({ file, target, path, value });
  reportEdit(context, flags, { key: formatKeyPath(path), file, changed, done: "written to" });
}

async function unset(context: CliContext, flags: Flags, metier: Metier, key: string): Promise<void> {
  const path = requireKey(key);
  const { file, target } = configFileFor(metier, flags.project ?? false);
  const changed = await unsetConfigValue({ file, target, path });
  reportEdit(context, flags, { key: formatKeyPath(path), file, changed, done: "removed from" });
}

function reportEdit(
  context: CliContext,
  { json }: Flags,
  edit: { readonly key: string; readonly file: string; readonly changed: boolean; readonly done: string },
): void {
  if (json) outJson(context, { key: edit.key, file: edit.file, changed: edit.changed });
  else out(context, safeLine(`${edit.key}: ${edit.changed ? edit.done : "already so in"} ${edit.file}`));
}

function paths(context: CliContext, flags: Flags, { config }: Metier): void {
  if (flags.json) outJson(context, config.layers);
  else
    out(
      context,
      config.layers
        .map(({ layer, where, status }) => safeLine(`${layer.padEnd(11)} ${status.padEnd(14)} ${where}`))
        .join("\n"),
    );
}

function requireKey(key: string): readonly string[] {
  const path = parseKeyPath(key);
  if (path === undefined)
    throw new ConfigError(`\`${key}\` is no config key.`, undefined, {
      hint: "Keys are dotted, as in `skills.paths`.",
    });
  const found = findField(path);
  if (!("fault" in found)) return found.segments;
  throw new ConfigError(found.fault, undefined, { hint: found.hint || undefined });
}
