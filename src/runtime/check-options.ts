/** Holds the options of `createMetier` to their type: a program may be JavaScript, or mistyped. */
import { statSync } from "node:fs";
import { kindOf } from "../catalog/given-skills.ts";
import { PRESETS } from "../config/config.ts";
import { UsageError } from "../foundation/errors.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import { checkProgramTools } from "../tools/check-program-tools.ts";
import { PROFILES } from "../validate/profiles.ts";
import { showValue } from "../validate/report.ts";
import { checkCapabilityOptions } from "./check-capability-options.ts";
import type { MetierOptions } from "./metier-options.ts";

interface OptionType {
  /** What is allowed, as messages say it. */
  readonly allowed: string;
  accepts(value: unknown): boolean;
}

const BOOLEAN: OptionType = {
  allowed: "`true` or `false`",
  accepts: (value) => typeof value === "boolean",
};

const PATH: OptionType = { allowed: "a path", accepts: isText };

const FOLDER: OptionType = {
  allowed: "the path of a folder that exists",
  accepts: (value) => isText(value) && isFolder(value),
};

const TEXTS: OptionType = {
  allowed: "a list of texts",
  accepts: (value) => Array.isArray(value) && value.every(isText),
};

/** What stands in it becomes a skill or a diagnostic. */
const LIST: OptionType = { allowed: "a list of folders and objects", accepts: Array.isArray };

const OBJECT: OptionType = {
  allowed: "an object",
  accepts: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

function oneOf(...values: readonly (string | boolean)[]): OptionType {
  return {
    allowed: values.map((value) => `\`${value}\``).join(", "),
    accepts: (value) => values.some((allowed) => allowed === value),
  };
}

const OPTIONS: Readonly<Record<keyof MetierOptions, OptionType>> = {
  models: OBJECT,
  tools: { allowed: "a list of tools", accepts: Array.isArray },
  agents: { allowed: "a list of agents", accepts: Array.isArray },
  search: OBJECT,
  capabilities: OBJECT,
  cwd: FOLDER,
  home: PATH,
  configFile: PATH,
  config: OBJECT,
  preset: oneOf(...PRESETS),
  paths: TEXTS,
  trustedPaths: TEXTS,
  integrations: LIST,
  bundled: oneOf(true, false, "unless-disabled"),
  allow: TEXTS,
  deny: TEXTS,
  profile: oneOf(...PROFILES),
  conflicts: oneOf("throw", "report"),
  trust: oneOf("vouch", "grants"),
  autoDiscover: BOOLEAN,
  index: BOOLEAN,
  environment: OBJECT,
};

/** Throws `UsageError` for the first option that is not known or not allowed; one that is `undefined` is not given. */
export function checkOptions(options: unknown): void {
  if (!OBJECT.accepts(options)) throw new UsageError("`createMetier` takes its options as one object.");
  for (const [name, value] of Object.entries(options as object)) {
    if (!isOption(name)) throw unknownOption(name);
    const { allowed, accepts } = OPTIONS[name];
    if (value === undefined || accepts(value)) continue;
    const shown = typeof value === "string" ? showValue(value) : kindOf(value);
    throw new UsageError(`The option \`${name}\` is ${shown}; allowed is ${allowed}.`);
  }
  const { tools = [], capabilities = {} } = options as MetierOptions;
  checkProgramTools(tools);
  checkCapabilityOptions(capabilities);
}

function isOption(name: string): name is keyof MetierOptions {
  return Object.hasOwn(OPTIONS, name);
}

function unknownOption(name: string): UsageError {
  const names = Object.keys(OPTIONS);
  const [near] = nearestNames(name, names, 1);
  return new UsageError(`\`createMetier\` has no option ${showValue(name)}.`, {
    hint: near ? `Did you mean \`${near}\`?` : `It has ${names.map((known) => `\`${known}\``).join(", ")}.`,
  });
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing or out of reach: either way nothing can be done there.
  }
}
