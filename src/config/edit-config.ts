/**
 * Edits of config files by commands. A key and its value are checked against the table first; a broken file is
 * refused, and comments are kept. Everything here throws `ConfigError`.
 */
import { ConfigError } from "../foundation/errors.ts";
import type { ConfigField } from "./config-fields.ts";
import { editConfigFile } from "./edit-config-file.ts";
import { type FoundField, findField } from "./find-field.ts";
import { formatKeyPath } from "./key-path.ts";
import { showValue } from "./redact.ts";

export interface ConfigEdit {
  readonly file: string;
  /** In any spelling; `parseKeyPath` makes it from dotted text. */
  readonly path: readonly string[];
  /** A project file does not take keys and secrets. */
  readonly target?: "user" | "project";
}

/** Whether a value is allowed does not depend on where its paths lead. */
const ANYWHERE = { home: "/", base: "/" };

/** Text from the command line as the value the key's type makes of it. */
export function parseConfigValue(path: readonly string[], text: string): unknown {
  const { field, segments } = requireField({ path });
  const value = field.type.fromText(text);
  requireValue(field, segments, value, text);
  return value;
}

/** Answers whether the file changed, like the others below. */
export async function setConfigValue(edit: ConfigEdit & { readonly value: unknown }): Promise<boolean> {
  const { field, segments } = requireField(edit);
  requireValue(field, segments, edit.value);
  return editConfigFile(edit.file, segments, () => edit.value);
}

export async function unsetConfigValue(edit: ConfigEdit): Promise<boolean> {
  return editConfigFile(edit.file, requireField(edit).segments, () => undefined);
}

export async function addToConfigList(edit: ConfigEdit & { readonly item: string }): Promise<boolean> {
  const { segments } = requireListField(edit);
  return editConfigFile(edit.file, segments, (current) => {
    const items = toList(current);
    return items.includes(edit.item) ? current : [...items, edit.item];
  });
}

export async function removeFromConfigList(edit: ConfigEdit & { readonly item: string }): Promise<boolean> {
  const { segments } = requireListField(edit);
  return editConfigFile(edit.file, segments, (current) => {
    const items = toList(current);
    return items.includes(edit.item) ? items.filter((item) => item !== edit.item) : current;
  });
}

function requireField({ path, target }: Pick<ConfigEdit, "path" | "target">): FoundField {
  const found = findField(path);
  if ("fault" in found) throw new ConfigError(found.fault, undefined, { hint: found.hint || undefined });
  if (target === "project" && found.field.project === "never") {
    throw new ConfigError(
      `\`${formatKeyPath(found.segments)}\` is read from the user file only.`,
      undefined,
      {
        hint: "Leave `--project` out, so that it is not shared with the project.",
      },
    );
  }
  return found;
}

function requireListField(edit: ConfigEdit): FoundField {
  const found = requireField(edit);
  if (Array.isArray(found.field.type.read([], ANYWHERE))) return found;
  throw new ConfigError(`\`${formatKeyPath(found.segments)}\` is not a list.`, undefined, {
    hint: `Set it to ${found.field.type.allowed}.`,
  });
}

function requireValue(
  field: ConfigField,
  segments: readonly string[],
  value: unknown,
  written: unknown = value,
): void {
  if (field.type.read(value, ANYWHERE) !== undefined) return;
  const key = formatKeyPath(segments);
  throw new ConfigError(`\`${key}\` cannot be ${showValue(field, written)}.`, undefined, {
    hint: `Allowed is ${field.type.allowed}.`,
  });
}

function toList(current: unknown): readonly unknown[] {
  if (current === undefined || current === null) return [];
  return Array.isArray(current) ? current : [current];
}
