/**
 * Resolves names to a usable model: chooses it by precedence, checks its address, reads its key and loads its provider,
 * only the one that is needed.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { done, type Result, refused } from "@metier/base/result";
import type { ModelConfig, ModelProvider } from "@metier/skills/config";
import { chooseModel, inferProvider } from "./choose-model.ts";
import { ggufName } from "./gguf/gguf-files.ts";
import type { GivenModel, ModelRefusal, ModelRequest, ModelTarget, ResolvedModel } from "./model-request.ts";
import { chooseOwned } from "./own-models.ts";
import { listPrice, pricingOf } from "./prices.ts";
import {
  type Endpoint,
  openEndpoint,
  PROVIDER_FACTS,
  readKey,
  readModelUrl,
  warnOfPlainHttp,
} from "./providers.ts";

type ModelOutcome = Result<ResolvedModel, ModelRefusal>;

export async function resolveModel(request: ModelRequest): Promise<ModelOutcome> {
  const { caller, run } = request;
  if (caller?.replay && run) return done({ ...caller, model: caller.replay.modelFor(run), diagnostics: [] });
  const choice = request.own ? chooseOwned(request, request.own) : chooseModel(request);
  if (!choice.ok) return choice;
  const resolved = await openTarget(choice.value.target, request);
  if (!resolved.ok) return resolved;
  const diagnostics = [...choice.value.diagnostics, ...resolved.value.diagnostics];
  return done({ ...resolved.value, diagnostics });
}

async function openTarget(target: ModelTarget, request: ModelRequest): Promise<ModelOutcome> {
  switch (target.kind) {
    case "given":
      return acceptGiven(target.model, target.alias);
    case "inherited":
      return done({ ...target.from, diagnostics: [] });
    case "own":
      return openOwn(target);
    case "configured":
      return openConfigured(target, request);
  }
}

/** Its key and address belong to its owner: this machine's environment isn't consulted. */
async function openOwn({ provider, model }: Extract<ModelTarget, { kind: "own" }>): Promise<ModelOutcome> {
  const { name, kind, key, fetch, inputPrice, outputPrice, baseUrl: written } = provider;
  const base = readModelUrl({ provider: kind, ...(written && { baseUrl: written }) }, name, {
    environment: {},
  });
  if (!base.ok) return base;
  const prices = {
    ...(inputPrice !== undefined && { inputPrice }),
    ...(outputPrice !== undefined && { outputPrice }),
  };
  return done({
    id: `${name}/${model}`,
    alias: name,
    provider: kind,
    pricing: pricingOf(prices, listPrice(kind, model)),
    model: await openEndpoint({ provider: kind, model, baseUrl: base.value, key: key?.value, fetch }),
    secrets: key ? [key] : [],
    diagnostics: [],
  });
}

async function acceptGiven(given: GivenModel, alias: string | undefined): Promise<ModelOutcome> {
  const { provider, modelId, specificationVersion } = given;
  if (specificationVersion !== "v4" && specificationVersion !== "v3") {
    return refused({
      message: `The model uses version \`${specificationVersion}\` of the AI SDK's interface; Metier needs \`v3\` or \`v4\`.`,
      hint: "Use a model from a provider package for AI SDK 6 or 7.",
    });
  }
  // The declared version is trusted.
  const model =
    specificationVersion === "v4" ? (given as unknown as LanguageModelV4) : await translate(given);
  // The SDK's own packages name themselves by provider and interface: `anthropic.messages`.
  const pricing = listPrice(provider.split(".")[0] ?? "", modelId);
  const told = { id: `${provider}/${modelId}`, provider, alias: alias || undefined, pricing };
  const isFree = provider === "scripted";
  return done({ ...told, isGiven: true, isFree, model, secrets: [], diagnostics: [] });
}

/** An AI SDK 6 model; the SDK itself knows the differences. */
async function translate(model: GivenModel): Promise<LanguageModelV4> {
  const { wrapLanguageModel } = await import("ai");
  return wrapLanguageModel({
    model: model as unknown as Parameters<typeof wrapLanguageModel>[0]["model"],
    middleware: {},
  });
}

async function openConfigured(
  { config, alias, where }: Extract<ModelTarget, { kind: "configured" }>,
  request: ModelRequest,
): Promise<ModelOutcome> {
  const named = nameModel(config, where);
  if (!named.ok) return named;
  const { provider, model } = named.value;
  const id = `${provider}/${model}`;
  const isLocal = provider === "ollama" || provider === "gguf";
  const lean = config.lean ?? isLocal;
  const pricing = pricingOf(config, listPrice(provider, model));
  const about = { id, provider, alias: alias || undefined, pricing, lean, isFree: isLocal };
  if (provider === "scripted") {
    // One script for all runs that name it: its turns are used in the order in which they ask.
    if (request.caller?.id === id) return done({ ...request.caller, diagnostics: [] });
    const { openScript } = await import("./scripted-model.ts");
    const opened = openScript(model);
    return opened.ok
      ? done({ ...about, model: opened.value, isFree: true, secrets: [], diagnostics: [] })
      : opened;
  }
  if (provider === "replay") {
    const { openReplay } = await import("./replay-model.ts");
    const opened = openReplay(model, request.run);
    return opened.ok
      ? done({ ...about, ...opened.value, isFree: true, secrets: [], diagnostics: [] })
      : opened;
  }
  if (provider === "gguf") {
    const { openGguf } = await import("./gguf/open-gguf.ts");
    const opened = await openGguf(config, where, request);
    return opened.ok ? done({ ...about, model: opened.value, secrets: [], diagnostics: [] }) : opened;
  }
  if (provider === "claude-program") {
    if (request.isService) return refuseInService(where);
    const { openClaudeProgram } = await import("./claude-program.ts");
    const opened = openClaudeProgram({ ...config, model }, where, request.environment);
    return opened.ok ? done({ ...about, model: opened.value, secrets: [], diagnostics: [] }) : opened;
  }
  return openRemote({ ...config, provider, model }, where, about, request);
}

/** The user's own program answers only that user: they accepted its vendor's terms, and it is their account. */
function refuseInService(where: string): ModelOutcome {
  return refused({
    message: `\`[${where}]\` uses your own \`claude\` program, which must not serve other people.`,
    hint: "Choose another model for the service: one with an API key, or one on this machine.",
  });
}

async function openRemote(
  config: ModelConfig & { readonly provider: Endpoint["provider"]; readonly model: string },
  where: string,
  about: Pick<ResolvedModel, "id" | "provider" | "alias" | "pricing" | "lean" | "isFree">,
  request: ModelRequest,
): Promise<ModelOutcome> {
  const base = readModelUrl(config, where, request);
  if (!base.ok) return base;
  const key = await readKey(config, where, request);
  if (!key.ok) return key;
  const baseUrl = base.value;
  const secret = key.value;
  return done({
    ...about,
    model: await openEndpoint({ ...config, baseUrl, key: secret?.value }),
    secrets: secret ? [secret] : [],
    diagnostics: secret ? warnOfPlainHttp(baseUrl, where) : [],
  });
}

/** A table may leave out what follows from the rest. */
function nameModel(
  config: ModelConfig,
  where: string,
): Result<{ readonly provider: ModelProvider; readonly model: string }, ModelRefusal> {
  const server = inferProvider(config);
  if (server === undefined) {
    return refused({
      message: `\`[${where}]\` has no \`provider\`.`,
      hint: `Add \`provider\`, one of ${Object.keys(PROVIDER_FACTS).join(", ")}.`,
    });
  }
  // Without a path, the code that looks for the file refuses it.
  const file = server === "gguf" ? ggufName(config.path ?? "") : undefined;
  const name = config.model ?? file ?? PROVIDER_FACTS[server].defaultModel;
  if (name !== undefined) return done({ provider: server, model: name });
  return refused({
    message: `\`[${where}]\` has no \`model\`, and \`${server}\` has no default.`,
    hint: "Add `model`: the name the server uses for it or, for a replay or a script, the path of its file.",
  });
}
