/**
 * Finds the models a user already has: keys in the environment, servers on this machine, GGUF files, programs on PATH.
 * It only looks: no key is sent, no program starts, and no package is loaded.
 */
import { createOutsideFinder } from "@metier/base/programs";
import { MODEL_PROVIDERS, type ModelConfig, type ModelProvider } from "@metier/skills/config";
import { findGgufFiles, type GgufFile } from "./gguf/gguf-files.ts";
import { findGgufLibrary, INSTALL_ADVICE } from "./gguf/gguf-library.ts";
import { findGgufNeeds } from "./gguf/open-gguf.ts";
import {
  findServers,
  type LocalServer,
  listServerPlaces,
  type ServerPlace,
  type ServerQuestion,
} from "./local-servers.ts";
import { PROVIDER_FACTS } from "./providers.ts";

export interface KeyFinding {
  readonly provider: ModelProvider;
  /** The variable; its value is never shown. */
  readonly variable: string;
  /** The prefix of that provider's models here. */
  readonly model: string;
}

interface FoundProgram {
  readonly name: "claude" | "codex";
  readonly path: string;
}

/** `folder`: where the user's config says it is, if not next to Metier. */
type GgufPackage =
  | { readonly version: string; readonly folder?: string | undefined }
  | { readonly missing: string };

export interface ModelFindings {
  readonly keys: readonly KeyFinding[];
  readonly servers: readonly LocalServer[];
  readonly files: readonly GgufFile[];
  /** The package that reads them. */
  readonly ggufPackage: GgufPackage;
  readonly programs: readonly FoundProgram[];
  /** Where servers were searched. */
  readonly asked: readonly ServerPlace[];
}

export interface ModelSearch extends ServerQuestion {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Programs inside it aren't the user's own. */
  readonly project: string;
  readonly home: string;
  /** A GGUF file, or a folder of them, absolute. Default: the usual folders. */
  readonly ggufPath?: string | undefined;
  /** The user's own tables: one may set the location of the GGUF package. */
  readonly models?: Readonly<Record<string, ModelConfig>> | undefined;
  /** Default: their usual addresses. */
  readonly places?: readonly ServerPlace[];
}

const PROGRAMS = ["claude", "codex"] as const;

export async function findModels(search: ModelSearch): Promise<ModelFindings> {
  const { environment, places = listServerPlaces(environment) } = search;
  const find = createOutsideFinder(environment, search);
  const programs = PROGRAMS.flatMap((name) => {
    const path = find(name);
    return path === undefined ? [] : [{ name, path }];
  });
  const servers = await findServers(places, search);
  const files = findGgufFiles({ ...search, given: search.ggufPath });
  return {
    keys: findKeys(environment),
    servers,
    files,
    ggufPackage: tellPackage(search),
    programs,
    asked: places,
  };
}

function tellPackage({ models = {} }: ModelSearch): GgufPackage {
  const beside = findGgufLibrary(undefined);
  const folder = Object.values(models).find((table) => table.package !== undefined)?.package;
  const library = beside.ok || folder === undefined ? beside : findGgufLibrary(folder);
  return library.ok
    ? { version: library.value.version, folder: beside.ok ? undefined : folder }
    : { missing: `${library.refusal.message} ${INSTALL_ADVICE}` };
}

function findKeys(environment: ModelSearch["environment"]): readonly KeyFinding[] {
  return MODEL_PROVIDERS.flatMap((provider) => {
    const { keyVariables, defaultModel: model } = PROVIDER_FACTS[provider];
    const variable = keyVariables.find((name) => environment[name]);
    return variable === undefined || model === undefined ? [] : [{ provider, variable, model }];
  });
}

/** Why a configured model can't be used: its key, file or package is missing. Reads, runs and loads nothing. */
export function whyNotReady(
  table: ModelConfig,
  where: string,
  { environment, home }: Pick<ModelSearch, "environment" | "home">,
): string | undefined {
  const { provider, apiKey, apiKeyEnv, apiKeyCommand } = table;
  if (provider === "gguf") {
    const needs = findGgufNeeds(table, where, { environment, home });
    return needs.ok ? undefined : `${needs.refusal.message} ${needs.refusal.hint}`;
  }
  if (apiKey || apiKeyCommand) return undefined;
  if (apiKeyEnv) return environment[apiKeyEnv] ? undefined : `\`${apiKeyEnv}\` is not set`;
  const { keyVariables } = PROVIDER_FACTS[provider ?? "openai-compatible"];
  if (keyVariables.length === 0 || keyVariables.some((name) => environment[name])) return undefined;
  return `no key: set \`${keyVariables[0]}\` or \`${where}.api-key-env\``;
}
