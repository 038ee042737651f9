/**
 * Models for someone other than this machine's owner: from their own providers, with their own keys and addresses, and
 * from those of this machine's models they may use. Decides only by name, like `choose-model.ts`.
 */
import { done, refused } from "@metier/base/result";
import { showNames, showValue } from "@metier/base/text";
import type { ModelConfig, ModelProvider } from "@metier/skills/config";
import { chooseModel, type ModelChoice, namedModel } from "./choose-model.ts";
import type { ModelRequest, ModelTarget, OwnModels, OwnProvider, OwnProviderKind } from "./model-request.ts";
import { PROVIDER_FACTS } from "./providers.ts";

/** What a user's own provider may be: something reached over the network. */
export const OWN_PROVIDER_KINDS = [
  "anthropic",
  "openai",
  "google",
  "openai-compatible",
] as const satisfies readonly OwnProviderKind[];

/** The default address of this kind of provider. */
export function addressOfKind(kind: OwnProviderKind): string | undefined {
  return PROVIDER_FACTS[kind].defaultUrl;
}

/** Providers of this machine, which a name alone would open. */
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
  return refused({ message: "You cannot use files or servers of this machine as models.", hint });
}

/** Names that imply a kind, such as `sonnet` or `openai/gpt-6-astra`, use the first provider of that kind. */
function chooseByKind(request: ModelRequest, { providers, hint }: OwnModels): ModelChoice {
  const [first] = providers;
  if (first === undefined) {
    return refused({ message: "There is no model: no model provider is set up here.", hint });
  }
  const tables = Object.fromEntries([
    ["default", tableOf(first)],
    ...providers.map((provider) => [provider.name, tableOf(provider)] as const),
  ]) as Readonly<Record<string, ModelConfig>>;
  const choice = chooseModel({
    ...request,
    // This machine's config for a skill with the same name is about another skill.
    config: { models: tables, skills: { ...request.config.skills, settings: {} } },
    environment: {},
    given: undefined,
  });
  if (!choice.ok) return refused({ ...choice.refusal, hint });
  const { target, diagnostics } = choice.value;
  if (target.kind === "inherited") return choice;
  const provider = ownerOf(target, providers);
  if (provider === undefined || target.kind !== "configured") {
    const message = `None of your providers has such a model; you have ${showNames(providers.map(({ name }) => name))}.`;
    return refused({ message, hint });
  }
  const opened = openAt(provider, target.config.model, hint);
  return opened.ok ? done({ ...opened.value, diagnostics }) : opened;
}

/** Whose table the connection comes from. */
function ownerOf(target: ModelTarget, providers: readonly OwnProvider[]): OwnProvider | undefined {
  if (target.kind !== "configured") return undefined;
  const name = target.where.replace(/^models\./, "");
  const { provider: kind = providers[0]?.kind } = target.config;
  // A provider without a key is chosen without a table, under the default's name.
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
    return refused({ message: `\`${name}\` has no default model, so name one.`, hint });
  }
  if (models !== undefined && !models.includes(model)) {
    const message = `${showValue(model)} is not a model of \`${name}\`; it has ${showNames(models)}.`;
    return refused({ message, hint });
  }
  return done({ target: { kind: "own", provider, model }, diagnostics: [] });
}
