/**
 * Chooses a run's model: the call's, else the config's for the skill, else the manifest's, else the default. Decides
 * only by name; reads no key and loads nothing.
 */
import { homedir } from "node:os";
import type { Diagnostic } from "@metier/base/diagnostic";
import { expandPath } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { forReader, nearestNames } from "@metier/base/text";
import { MODEL_PROVIDERS, type ModelConfig, type ModelProvider } from "@metier/skills/config";
import { ggufName, isGgufPath } from "./gguf/gguf-files.ts";
import { BUILT_IN_ALIASES, isNamedAfter } from "./model-aliases.ts";
import type { ModelRefusal, ModelRequest, ModelTarget } from "./model-request.ts";
import { PROVIDER_FACTS } from "./providers.ts";

export type ModelChoice = Result<
  { readonly target: ModelTarget; readonly diagnostics: readonly Diagnostic[] },
  ModelRefusal
>;

/** A name and its origin: `call` and `config` come from the user, `skill` doesn't. */
interface NamedModel {
  readonly name: string;
  readonly by: "call" | "config" | "skill";
}

export function chooseModel(request: ModelRequest): ModelChoice {
  const { asked, caller } = request;
  if (typeof asked === "object") return chosen({ kind: "given", model: asked });
  const named = namedModel(request);
  if (named === undefined || named.name === "default") return defaultModel(request);
  const renamed = rename(named.name, request);
  if (renamed) return chooseModel(renamed);
  const target = aliasTarget(named.name, request);
  if (target) return chosen(target);
  if (named.name === "inherit") {
    return caller ? chosen({ kind: "inherited", from: caller }) : defaultModel(request);
  }
  const choices = ownEntry(BUILT_IN_ALIASES, named.name);
  if (choices) return chooseBuiltIn(named, choices, request);
  const direct = splitProvider(named, request);
  if (direct === undefined) return unknownModel(named, request);
  const connection = connectionOf(direct.provider, request);
  if (connection === undefined) return withoutKey(named, [direct.provider], request);
  const { config, where } = connection;
  return chosen({ kind: "configured", config: { ...config, ...direct }, where });
}

export function namedModel({ asked, config, skill }: ModelRequest): NamedModel | undefined {
  if (typeof asked === "string" && asked.trim() !== "") return { name: asked.trim(), by: "call" };
  if (skill === undefined) return undefined;
  const configured = ownEntry(config.skills.settings, skill.name)?.model;
  if (configured) return { name: configured, by: "config" };
  return skill.model ? { name: skill.model, by: "skill" } : undefined;
}

function aliasTarget(alias: string, { given = {}, config }: ModelRequest): ModelTarget | undefined {
  const model = ownEntry(given, alias);
  if (typeof model === "object") return { kind: "given", model, alias };
  const configured = ownEntry<ModelConfig>(config.models, alias);
  return configured && { kind: "configured", config: configured, alias, where: `models.${alias}` };
}

/**
 * What a built-in alias stands for: a configured model with that name, else a model of the first provider with a key.
 */
function chooseBuiltIn(
  named: NamedModel,
  choices: (typeof BUILT_IN_ALIASES)[string],
  request: ModelRequest,
): ModelChoice {
  const providers = choices.map(({ provider }) => provider);
  const configured = Object.entries(request.config.models).find(
    ([, table]) =>
      providers.some((provider) => provider === inferProvider(table)) &&
      isNamedAfter(named.name, table.model),
  );
  if (configured) {
    const [alias, config] = configured;
    return chosen({ kind: "configured", config, alias, where: `models.${alias}` });
  }
  for (const { provider, model } of choices) {
    const connection = connectionOf(provider, request);
    if (connection === undefined) continue;
    const { config, where } = connection;
    return chosen({ kind: "configured", config: { ...config, provider, model }, where });
  }
  return withoutKey(named, providers, request);
}

/**
 * The same request with the name that the program's alias stands for. The alias is removed, so that none leads to
 * itself.
 */
function rename(alias: string, request: ModelRequest): ModelRequest | undefined {
  const { [alias]: name, ...given } = request.given ?? {};
  return typeof name === "string" ? { ...request, asked: name, given } : undefined;
}

function defaultModel(request: ModelRequest): ModelChoice {
  const renamed = rename("default", request);
  if (renamed) return chooseModel(renamed);
  const target = aliasTarget("default", request) ?? environmentTarget(request);
  if (target) return chosen(target);
  // Better the model that is already talking than none.
  return request.caller ? chosen({ kind: "inherited", from: request.caller }) : noModel();
}

/** A key in the environment is enough. */
function environmentTarget({ environment }: ModelRequest): ModelTarget | undefined {
  const provider = MODEL_PROVIDERS.find((name) => keyVariable(name, environment) !== undefined);
  return provider && { kind: "configured", config: { provider }, where: "models.default" };
}

/** `provider/model`, `provider:model`, or a name by which a provider's models are known. */
function splitProvider({ name, by }: NamedModel, request: ModelRequest): Direct | undefined {
  if (by === "call" && /\.gguf$/i.test(name) && !/^gguf[/:]/.test(name)) return namedFile(name, request);
  const [, prefix = "", model = ""] = /^([a-z-]+)[/:](.+)$/.exec(name) ?? [];
  const provider = MODEL_PROVIDERS.find((known) => known === prefix);
  // A skill must not make the runtime read a file of its choice as a model.
  const isFile = provider === "replay" || provider === "scripted" || provider === "gguf";
  if (isFile && by !== "call") return undefined;
  if (provider === "gguf") return namedFile(model, request);
  if (provider) return { provider, model };
  const family = MODEL_PROVIDERS.find((known) => PROVIDER_FACTS[known].family?.test(name));
  return family && { provider: family, model: name };
}

type Direct = Pick<ModelConfig, "path"> & { readonly provider: ModelProvider; readonly model: string };

/** A path, or the name of a file in the usual folders; not the file of an existing table. */
function namedFile(written: string, { home = homedir(), cwd = process.cwd() }: ModelRequest): Direct {
  return isGgufPath(written)
    ? { provider: "gguf", model: ggufName(written), path: expandPath(written, home, cwd) }
    : { provider: "gguf", model: written };
}

/** How to reach a provider that no alias names: as the config already does, else through the environment. */
function connectionOf(
  provider: ModelProvider,
  { config, environment }: ModelRequest,
): { readonly config: ModelConfig; readonly where: string } | undefined {
  const fromEnvironment = { config: {}, where: "models.default" };
  if (provider === "replay" || provider === "scripted") return fromEnvironment;
  const tables = Object.entries(config.models).filter(([, entry]) => inferProvider(entry) === provider);
  const [alias, table] = tables.find(([name]) => name === "default") ?? tables[0] ?? [];
  if (table) {
    const { inputPrice: _input, outputPrice: _output, path: _path, ...connection } = table;
    return { config: connection, where: `models.${alias}` };
  }
  // A file needs no key, and a local server has a usual address.
  const { keyVariables, defaultUrl } = PROVIDER_FACTS[provider];
  if (provider === "gguf" || (keyVariables.length === 0 && defaultUrl !== undefined)) return fromEnvironment;
  return keyVariable(provider, environment) === undefined ? undefined : fromEnvironment;
}

/** What a table says or implies about its provider. */
export function inferProvider({ provider, model, baseUrl }: ModelConfig): ModelProvider | undefined {
  if (provider !== undefined || baseUrl) return provider ?? "openai-compatible";
  return MODEL_PROVIDERS.find((known) => model !== undefined && PROVIDER_FACTS[known].family?.test(model));
}

function keyVariable(provider: ModelProvider, environment: ModelRequest["environment"]): string | undefined {
  return PROVIDER_FACTS[provider].keyVariables.find((variable) => environment[variable]);
}

function unknownModel(named: NamedModel, request: ModelRequest): ModelChoice {
  const { name, by } = named;
  const aliases = [...new Set([...Object.keys(request.given ?? {}), ...Object.keys(request.config.models)])];
  const builtIn = Object.keys(BUILT_IN_ALIASES);
  const near = nearModels(name, [...new Set([...aliases, ...builtIn])]).map(quote);
  const shown = quote(shorten(name));
  const message =
    by === "call" ? `Unknown model ${shown}.` : `${who(by, request)} the unknown model ${shown}.`;
  const hint = [
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : undefined,
    aliases.length > 0 ? `Configured: ${aliases.map(quote).join(", ")}.` : "No aliases are configured.",
    `Built in: ${builtIn.map(quote).join(", ")}.`,
    "Or write `provider/model`.",
  ];
  const refusal = { message, hint: hint.filter((part) => part !== undefined).join(" ") };
  return by === "skill"
    ? fallBack("model.unknown", refusal, request)
    : refused({ ...refusal, code: "model.unknown" });
}

/** Similar names; for `provider/model`, the same model at a provider with a similar name. */
function nearModels(name: string, aliases: readonly string[]): readonly string[] {
  const [, prefix = "", model = ""] = /^([^/:]+)[/:](.+)$/.exec(shorten(name)) ?? [];
  const providers = nearestNames(prefix, MODEL_PROVIDERS, 1).map((provider) => `${provider}/${model}`);
  return [...providers, ...nearestNames(name, aliases)];
}

/** The user's choice is never replaced by another model; a skill's is. `providers`: any of them would do. */
function withoutKey(
  { name, by }: NamedModel,
  providers: readonly ModelProvider[],
  request: ModelRequest,
): ModelChoice {
  const [provider = "anthropic"] = providers;
  const variables = providers.flatMap((known) => PROVIDER_FACTS[known].keyVariables.slice(0, 1)).map(quote);
  const shown = quote(shorten(name));
  const need = `${variables.length > 0 ? "a key" : "a `base-url`"} for ${providers.map(quote).join(" or ")}`;
  const message =
    by === "call"
      ? `The model ${shown} needs ${need}.`
      : `${who(by, request)} the model ${shown}, which needs ${need}.`;
  const hint =
    variables.length > 0
      ? `Set ${variables.join(" or ")}, or add a table with \`provider = "${provider}"\` and its key to your config.`
      : `Add a \`[models.<alias>]\` table with \`provider = "${provider}"\` and the server's \`base-url\`.`;
  return by === "skill" ? fallBack("model.no-key", { message, hint }, request) : refused({ message, hint });
}

function fallBack(
  code: Diagnostic["code"],
  { message: why, hint }: ModelRefusal,
  request: ModelRequest,
): ModelChoice {
  const choice = defaultModel(request);
  if (!choice.ok) return choice;
  const message = `${why} The default model is used.`;
  const path = request.skill?.location ?? "models";
  return done({ ...choice.value, diagnostics: [{ code, severity: "warning", message, hint, path }] });
}

/** The start of a sentence that continues with what was named. */
function who(by: "config" | "skill", { skill }: ModelRequest): string {
  return by === "config"
    ? `\`[skills.${skill?.name}]\` in your config names`
    : `The skill \`${skill?.name}\` names`;
}

function quote(name: string): string {
  return `\`${name}\``;
}

/** A skill's text can be of any length. */
function shorten(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}

function ownEntry<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function chosen(target: ModelTarget): ModelChoice {
  return done({ target, diagnostics: [] });
}

/** The message if there is no model at all: the ways to get one, shortest first. */
function noModel(): ModelChoice {
  const { anthropic, openai, google } = PROVIDER_FACTS;
  const variables = [anthropic, openai, google]
    .map(({ keyVariables }) => `\`${keyVariables.at(-1)}\``)
    .join(", ");
  return refused({
    message: "No model is configured, and the environment has no key of a known provider.",
    hint: [
      forReader({
        command: "Run `metier init`: it finds your models, tests one and writes your config.",
        program: "Pass one: `createMetier({ models: { default: model } })`, with an AI SDK model.",
      }),
      `Or set a key (${variables}), or add this to \`~/.metier/config.toml\`:`,
      "  [models.default]",
      '  provider = "ollama"',
      '  model = "<a model from `ollama list`>"',
    ].join("\n"),
  });
}
