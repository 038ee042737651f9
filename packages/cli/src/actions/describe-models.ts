/** The models part of `metier doctor`: configured models, whether their keys are set, and other models found. */
import type { Environment } from "@metier/base/programs";
import { findModels, type ModelFindings, whyNotReady } from "@metier/run/model";
import type { Metier } from "@metier/runtime";
import { findingLines } from "../output/models-text.ts";

interface ConfiguredModel {
  readonly alias: string;
  /** `anthropic/claude-…`, as far as the config says. */
  readonly model: string;
  readonly address?: string | undefined;
  /** Why it can't be used; absent if nothing is missing. */
  readonly problem?: string | undefined;
}

interface DescribedModels {
  readonly configured: readonly ConfiguredModel[];
  readonly found: ModelFindings;
}

export async function describeModels(
  { config, project, places }: Metier,
  environment: Environment,
): Promise<DescribedModels> {
  const { home } = places;
  const { models } = config.config;
  const found = await findModels({ environment, project: project.root, home, models });
  const configured = Object.entries(models).map(([alias, table]): ConfiguredModel => {
    const { provider, model, baseUrl: address = table.path } = table;
    const problem = whyNotReady(table, `models.${alias}`, { environment, home });
    const name = [provider, model].filter((part) => part !== undefined).join("/");
    return { alias, model: name || "no provider and no model", address, problem };
  });
  return { configured, found };
}

export function modelLines({ configured, found }: DescribedModels): readonly string[] {
  const lines = configured.map(({ alias, model, address, problem }) => {
    const place = address === undefined ? "" : ` at ${address}`;
    return `${alias}: ${model}${place}${problem === undefined ? "" : ` (${problem})`}`;
  });
  const hasDefault = configured.some(({ alias }) => alias === "default");
  const usual = found.keys[0];
  const none =
    usual === undefined
      ? "no default model; run `metier init`"
      : `default: ${usual.provider}/${usual.model}, from the key in ${usual.variable}`;
  return [...(hasDefault ? [] : [none]), ...lines, ...findingLines(found).map((line) => `found ${line}`)];
}
