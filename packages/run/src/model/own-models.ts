/**
 * Models for somebody who is not the owner of this machine: by providers of their own, with their own keys and addresses,
 * and by as much of this machine's models as they were given. Decides by names alone, as `choose-model.ts` does.
 */
import { done, refused } from "@metier/base/result";
import { showNames, showValue } from "@metier/base/text";
import type { ModelConfig, ModelProvider } from "@metier/skills/config";
import { chooseModel, type ModelChoice, namedModel } from "./choose-model.ts";
import type { ModelRequest, ModelTarget, OwnModels, OwnProvider, OwnProviderKind } from "./model-request.ts";
import { PROVIDER_FACTS } from "./providers.ts";

/** What a provider of one's own may be: something that is reached over the network. */
export const OWN_PROVIDER_KINDS = [
  "anthropic",
  "openai",
  "google",
  "openai-compatible",
] as const satisfies readonly OwnProviderKind[];

/** Where a provider of this kind is asked unless it has an address of its own. */
export function addressOfKind(kind: OwnProviderKind): string | undefined {
  return PROVIDER_FACTS[kind].defaultUrl;
}

/** Those of this machine itself, which a name alone would open. */
const OF_MACHINE: ReadonlySet<ModelProvider | undefined> = new Set<ModelProvider>([
  "ollama",
  "gguf",
  "claude-program",
  "replay",
  "scripted",
]);

export function chooseOwned(request: ModelRequest, own: OwnModels): ModelChoice {
  const named = chooseNamed(request, own);
  if (named) return named;
  const home = own.home === "none" ? undefined : chooseOfHome(request, own);
  if (home?.ok) return home;
  const chosen = chooseByKind(request, own);
  return chosen.ok || home === undefined ? chosen : home;
}

/** `<name>/<model>`, or the name alone. */
function chooseNamed(request: ModelRequest, { providers, hint }: OwnModels): ModelChoice | undefined {
  const { name = "" } = typeof request.asked === "object" ? {} : (namedModel(request) ?? {});
  const [, before = "", model] = /^([^/:]+)(?:[/:](.+))?$/.exec(name) ?? [];
  const provider = providers.find((one) => one.name === before);
  return provider && openAt(provider, model, hint);
}

function chooseOfHome(request: ModelRequest, { home, hint }: OwnModels): ModelChoice {
  const choice = chooseModel(request);
  if (!choice.ok || home === "all") return choice;
  const { target } = choice.value;
  const isOfMachine = target.kind === "configured" && OF_MACHINE.has(target.config.provider);
  if (!isOfMachine || target.alias !== undefined) return choice;
  return refused({ message: "Files and servers of this machine are not for you to name as models.", hint });
}

/** Names that say a kind, such as `sonnet` or `openai/gpt-6-astra`, by the first provider of that kind. */
function chooseByKind(request: ModelRequest, { providers, hint }: OwnModels): ModelChoice {
  const [first] = providers;
  if (first === undefined) {
    return refused({ message: "There is no model: no provider of models was set up here.", hint });
  }
  const tables = Object.fromEntries([
    ["default", tableOf(first)],
    ...providers.map((provider) => [provider.name, tableOf(provider)] as const),
  ]) as Readonly<Record<string, ModelConfig>>;
  const choice = chooseModel({
    ...request,
    // What this machine says about a skill of the same name is about another one.
    config: { models: tables, skills: { ...request.config.skills, settings: {} } },
    environment: {},
    given: undefined,
  });
  if (!choice.ok) return refused({ ...choice.refusal, hint });
  const { target, diagnostics } = choice.value;
  if (target.kind === "inherited") return choice;
  const provider = ownerOf(target, providers);
  if (provider === undefined || target.kind !== "configured") {
    const message = `No provider of yours has such models; there are ${showNames(providers.map(({ name }) => name))}.`;
    return refused({ message, hint });
  }
  const opened = openAt(provider, target.config.model, hint);
  return opened.ok ? done({ ...opened.value, diagnostics }) : opened;
}

/** Whose table the connection was taken from. */
function ownerOf(target: ModelTarget, providers: readonly OwnProvider[]): OwnProvider | undefined {
  if (target.kind !== "configured") return undefined;
  const name = target.where.replace(/^models\./, "");
  const { provider: kind = providers[0]?.kind } = target.config;
  // What needs no key is chosen without a table, under the name of the default one.
  const found = name === "default" ? providers[0] : providers.find((provider) => provider.name === name);
  return found?.kind === kind ? found : undefined;
}

function tableOf({ kind, models = [], baseUrl }: OwnProvider): ModelConfig {
  return { provider: kind, ...(models[0] && { model: models[0] }), ...(baseUrl && { baseUrl }) };
}

function openAt(provider: OwnProvider, wanted: string | undefined, hint: string): ModelChoice {
  const { name, kind, models } = provider;
  const model = wanted ?? models?.[0] ?? PROVIDER_FACTS[kind].defaultModel;
  if (model === undefined) {
    return refused({ message: `Which model of \`${name}\`? It has no default one.`, hint });
  }
  if (models !== undefined && !models.includes(model)) {
    const message = `${showValue(model)} is not a model of \`${name}\`; it has ${showNames(models)}.`;
    return refused({ message, hint });
  }
  return done({ target: { kind: "own", provider, model }, diagnostics: [] });
}
