/** The options every command takes. */
import { PRESETS, type PresetName } from "../config/config.ts";
import { PROFILES, type Profile } from "../validate/profiles.ts";

export interface CommonFlags {
  readonly cwd?: string;
  readonly home?: string;
  readonly config?: string;
  readonly preset?: PresetName;
  readonly path?: readonly string[];
  readonly profile?: Profile;
  readonly json: boolean;
}

const text = (value: string): string => value;

export const COMMON_FLAGS = {
  cwd: {
    kind: "parsed",
    parse: text,
    optional: true,
    placeholder: "dir",
    brief: "Work as if started in this folder",
  },
  home: {
    kind: "parsed",
    parse: text,
    optional: true,
    placeholder: "dir",
    brief: "Use this folder instead of the home folder, everywhere",
  },
  config: {
    kind: "parsed",
    parse: text,
    optional: true,
    placeholder: "file",
    brief: "Read this config file instead of the project's",
  },
  preset: {
    kind: "enum",
    values: PRESETS,
    optional: true,
    brief: "Directories, order and config of another system",
  },
  path: {
    kind: "parsed",
    parse: text,
    optional: true,
    variadic: true,
    placeholder: "path",
    brief: "Also use the skills here: a skill folder, a skill file or a folder of skills (repeatable)",
  },
  profile: { kind: "enum", values: PROFILES, optional: true, brief: "How strict to be (default: standard)" },
  json: { kind: "boolean", default: false, withNegated: false, brief: "Print one JSON value" },
} as const;
