/**
 * Which model a run gets: the call's word, else the config's for the skill, else the manifest's, else the default.
 * Decides by names alone; no key is read and nothing is loaded here.
 */
import { MODEL_PROVIDERS, type ModelConfig, type ModelProvider } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import type { ModelFailure, ModelRequest, ModelTarget } from "./model-request.ts";
import { noModel } from "./no-model.ts";
import { CLAUDE_ALIASES, PROVIDER_FACTS } from "./provider-facts.ts";

export type ModelChoice =
  | { readonly ok: true; readonly target: ModelTarget; readonly diagnostics: readonly Diagnostic[] }
  | ModelFailure;

/** A name and who said it: `call` and `config` are the user's own word, `skill` is not. */
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
  const direct = splitProvider(named);
  if (direct === undefined) return unknownModel(named, request);
  const connection = connectionOf(direct.provider, request);
  if (connection === undefined) return withoutKey(named, direct.provider, request);
  const { config, where } = connection;
  return chosen({ kind: "configured", config: { ...config, ...direct }, where });
}

function namedModel({ asked, config, skill }: ModelRequest): NamedModel | undefined {
  if (typeof asked === "string" && asked.trim() !== "") return { name: asked.trim(), by: "call" };
  if (skill === undefined) return undefined;
  const configured = Object.hasOwn(config.skills.settings, skill.name)
    ? config.skills.settings[skill.name]?.model
    : undefined;
  if (configured) return { name: configured, by: "config" };
  return skill.model ? { name: skill.model, by: "skill" } : undefined;
}

function aliasTarget(alias: string, { given = {}, config }: ModelRequest): ModelTarget | undefined {
  const model = ownEntry(given, alias);
  if (typeof model === "object") return { kind: "given", model, alias };
  const configured = ownEntry<ModelConfig>(config.models, alias);
  return configured && { kind: "configured", config: configured, alias, where: `models.${alias}` };
}

/** The same request for the name that the program lets an alias stand for. It is used up, so that none leads to itself. */
function rename(alias: string, request: ModelRequest): ModelRequest | undefined {
  const { [alias]: name, ...given } = request.given ?? {};
  return typeof name === "string" ? { ...request, asked: name, given } : undefined;
}

function defaultModel(request: ModelRequest): ModelChoice {
  const renamed = rename("default", request);
  if (renamed) return chooseModel(renamed);
  const target = aliasTarget("default", request) ?? environmentTarget(request);
  if (target) return chosen(target);
  // Better the model that is talking already than none.
  return request.caller ? chosen({ kind: "inherited", from: request.caller }) : noModel();
}

/** A key in the environment is enough. */
function environmentTarget({ environment }: ModelRequest): ModelTarget | undefined {
  const provider = MODEL_PROVIDERS.find((name) => keyVariable(name, environment) !== undefined);
  return provider && { kind: "configured", config: { provider }, where: "models.default" };
}

/** `provider/model`, `provider:model`, or a name by which a provider's models are known. */
function splitProvider({ name, by }: NamedModel): { provider: ModelProvider; model: string } | undefined {
  const [, prefix = "", model = ""] = /^([a-z-]+)[/:](.+)$/.exec(name) ?? [];
  const provider = MODEL_PROVIDERS.find((known) => known === prefix);
  // A skill must not make the runtime read a file of its choosing as a model.
  const isFile = provider === "replay" || provider === "scripted";
  if (provider) return isFile && by !== "call" ? undefined : { provider, model };
  const family = MODEL_PROVIDERS.find((known) => PROVIDER_FACTS[known].family?.test(name));
  return family && { provider: family, model: name };
}

interface Connection {
  readonly config: ModelConfig;
  readonly where: string;
}

/** How a provider is reached that no alias names: as the config reaches it already, else by the environment. */
function connectionOf(
  provider: ModelProvider,
  { config, environment }: ModelRequest,
): Connection | undefined {
  const fromEnvironment = { config: {}, where: "models.default" };
  if (provider === "replay" || provider === "scripted") return fromEnvironment;
  const tables = Object.entries(config.models).filter(([, entry]) => entry.provider === provider);
  const [alias, table] = tables.find(([name]) => name === "default") ?? tables[0] ?? [];
  if (table) {
    const { inputPrice: _input, outputPrice: _output, ...connection } = table;
    return { config: connection, where: `models.${alias}` };
  }
  return keyVariable(provider, environment) === undefined ? undefined : fromEnvironment;
}

function keyVariable(provider: ModelProvider, environment: ModelRequest["environment"]): string | undefined {
  return PROVIDER_FACTS[provider].keyVariables.find((variable) => environment[variable]);
}

function unknownModel({ name, by }: NamedModel, request: ModelRequest): ModelChoice {
  const aliases = [...new Set([...Object.keys(request.given ?? {}), ...Object.keys(request.config.models)])];
  const near = nearestNames(name, aliases);
  const known =
    aliases.length > 0
      ? `Configured are ${aliases.map((alias) => `\`${alias}\``).join(", ")}.`
      : "None is configured.";
  const isClaude = CLAUDE_ALIASES.includes(name);
  const message = isClaude
    ? `${who(by, request)} asks for \`${name}\`, a name of Claude's models that is no configured alias here. ${known}`
    : `${who(by, request)} names the model \`${shorten(name)}\`, which is not configured. ${known}`;
  const meant = near.length > 0 ? `Did you mean \`${near[0]}\`? ` : "";
  const hint = `${meant}Add a \`[models.${isClaude ? name : "<alias>"}]\` table, or write \`provider/model\`.`;
  if (request.strictModels) return { ok: false, message, hint };
  return fallBack(
    { code: "model.unknown", severity: "warning", message, hint, path: place(request) },
    request,
  );
}

/** The user's own word is not replaced by another model; a skill's wish is. */
function withoutKey({ name, by }: NamedModel, provider: ModelProvider, request: ModelRequest): ModelChoice {
  const variable = PROVIDER_FACTS[provider].keyVariables[0];
  const message = `${who(by, request)} names the model \`${shorten(name)}\`, but ${
    variable ? `there is no key for \`${provider}\`` : `no \`base-url\` is configured for \`${provider}\``
  }.`;
  const hint = variable
    ? `Set \`${variable}\`, or add a table with \`provider = "${provider}"\` and its key to your config.`
    : `Add a \`[models.<alias>]\` table with \`provider = "${provider}"\` and the server's \`base-url\`.`;
  if (by !== "skill" || request.strictModels) return { ok: false, message, hint };
  return fallBack(
    { code: "model.no-key", severity: "warning", message, hint, path: place(request) },
    request,
  );
}

function fallBack(diagnostic: Diagnostic, request: ModelRequest): ModelChoice {
  const choice = defaultModel(request);
  if (!choice.ok) return choice;
  const message = `${diagnostic.message} The default model is used.`;
  return { ...choice, diagnostics: [{ ...diagnostic, message }] };
}

function who(by: NamedModel["by"], { skill }: ModelRequest): string {
  if (by === "call") return "The call";
  return by === "config" ? `\`[skills.${skill?.name}]\` of the config` : `The skill \`${skill?.name}\``;
}

function place({ skill }: ModelRequest): string {
  return skill?.location ?? "models";
}

/** A skill's text may be of any length. */
function shorten(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}

function ownEntry<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function chosen(target: ModelTarget): ModelChoice {
  return { ok: true, target, diagnostics: [] };
}
