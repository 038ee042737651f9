/** A config file taken apart, whatever its format: its values, and where each key stands. */
import type { Position } from "../../skill/skill.ts";

export type ConfigFormat = "toml" | "yaml" | "json";

export interface ConfigDocument {
  readonly values: Readonly<Record<string, unknown>>;
  /** Where a key stands, or the nearest table above it that can be found. */
  locate(path: readonly string[]): Position | undefined;
}

/** Why a file is no config file. The detail never quotes the file: the line may hold a secret. */
export class ConfigSyntaxError extends Error {
  readonly position: Position | undefined;
  constructor(detail: string, position?: Position) {
    super(detail);
    this.name = "ConfigSyntaxError";
    this.position = position;
  }
}

/** By the file's ending; anything else is read as TOML. */
export function formatOf(file: string): ConfigFormat {
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return /\.json$/i.test(file) ? "json" : "toml";
}

/** Parsers are loaded when a file of their format is there. Throws `ConfigSyntaxError`. */
export async function parseConfigDocument(text: string, format: ConfigFormat): Promise<ConfigDocument> {
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const parse = await loadParser(format);
  try {
    return parse(source);
  } catch (fault) {
    if (fault instanceof RangeError) throw new ConfigSyntaxError("it is nested too deeply");
    throw fault;
  }
}

async function loadParser(format: ConfigFormat): Promise<(text: string) => ConfigDocument> {
  if (format === "yaml") return (await import("./yaml-document.ts")).parseYamlDocument;
  if (format === "json") return (await import("./json-document.ts")).parseJsonDocument;
  return (await import("./toml-document.ts")).parseTomlDocument;
}
