/**
 * From names to a model that can be asked: chosen by precedence, with its address checked, its key read and its
 * provider loaded, which happens here and only for the one provider that is needed.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelConfig, ModelProvider } from "../config/config.ts";
import { chooseModel } from "./choose-model.ts";
import type { GivenModel } from "./given-model.ts";
import type {
  ModelFailure,
  ModelOutcome,
  ModelRequest,
  ModelTarget,
  ResolvedModel,
} from "./model-request.ts";
import { pricingOf } from "./pricing.ts";
import { PROVIDER_FACTS } from "./provider-facts.ts";
import { type Endpoint, openEndpoint } from "./providers/open-endpoint.ts";
import { readBaseUrl, warnOfPlainHttp } from "./read-base-url.ts";
import { readKey } from "./read-key.ts";

export async function resolveModel(request: ModelRequest): Promise<ModelOutcome> {
  const { caller, run } = request;
  if (caller?.replay && run) return { ...caller, model: caller.replay.modelFor(run), diagnostics: [] };
  const choice = chooseModel(request);
  if (!choice.ok) return choice;
  const resolved = await openTarget(choice.target, request);
  if (!resolved.ok) return resolved;
  return { ...resolved, diagnostics: [...choice.diagnostics, ...resolved.diagnostics] };
}

async function openTarget(target: ModelTarget, request: ModelRequest): Promise<ModelOutcome> {
  switch (target.kind) {
    case "given":
      return acceptGiven(target.model, target.alias);
    case "inherited":
      return { ...target.from, diagnostics: [] };
    case "configured":
      return openConfigured(target, request);
  }
}

function acceptGiven(model: GivenModel, alias: string | undefined): ModelOutcome {
  const { provider, modelId, specificationVersion } = model;
  if (specificationVersion !== "v4") {
    return {
      ok: false,
      message: `The given model speaks version \`${specificationVersion}\` of the AI SDK's interface; \`v4\` is needed.`,
      hint: "Take the model from a provider package made for AI SDK 7.",
    };
  }
  const id = `${provider}/${modelId}`;
  // What says that it speaks this version is taken at its word.
  return {
    ok: true,
    model: model as LanguageModelV4,
    id,
    provider,
    secrets: [],
    diagnostics: [],
    ...(alias && { alias }),
  };
}

async function openConfigured(
  { config, alias, where }: Extract<ModelTarget, { kind: "configured" }>,
  request: ModelRequest,
): Promise<ModelOutcome> {
  const named = nameModel(config, where);
  if (!named.ok) return named;
  const { provider, model } = named;
  const id = `${provider}/${model}`;
  const pricing = pricingOf(config);
  const about = { ok: true, id, provider, ...(alias && { alias }), ...(pricing && { pricing }) } as const;
  if (provider === "scripted") {
    // One script for all runs that name it: its turns are answered in the order in which they ask.
    if (request.caller?.id === id) return { ...request.caller, diagnostics: [] };
    const { openScript } = await import("./providers/open-script.ts");
    const opened = openScript(model);
    return opened.ok ? { ...about, model: opened.model, secrets: [], diagnostics: [] } : opened;
  }
  if (provider === "replay") {
    const { openReplay } = await import("./providers/open-replay.ts");
    const opened = openReplay(model, request.run);
    return opened.ok ? { ...about, ...opened, secrets: [], diagnostics: [] } : opened;
  }
  return openRemote({ ...config, provider, model }, where, about, request);
}

async function openRemote(
  config: ModelConfig & { readonly provider: Endpoint["provider"]; readonly model: string },
  where: string,
  about: Pick<ResolvedModel, "ok" | "id" | "provider" | "alias" | "pricing">,
  request: ModelRequest,
): Promise<ModelOutcome> {
  const base = readBaseUrl(config, where, request);
  if (!base.ok) return base;
  const key = await readKey(config, where, request);
  if (!key.ok) return key;
  const { secret } = key;
  const model = await openEndpoint({
    provider: config.provider,
    model: config.model,
    baseUrl: base.url,
    ...(secret && { key: secret.value }),
  });
  return {
    ...about,
    model,
    secrets: secret ? [secret] : [],
    diagnostics: secret ? warnOfPlainHttp(base.url, where) : [],
  };
}

/** A table may leave out what follows from the rest of it. */
function nameModel(
  { provider, model, baseUrl }: ModelConfig,
  where: string,
): { readonly ok: true; readonly provider: ModelProvider; readonly model: string } | ModelFailure {
  const family = Object.entries(PROVIDER_FACTS).find(([, facts]) => model && facts.family?.test(model));
  const server = provider ?? (baseUrl ? "openai-compatible" : (family?.[0] as ModelProvider | undefined));
  if (server === undefined) {
    return {
      ok: false,
      message: `\`[${where}]\` does not say which provider serves the model.`,
      hint: `Add \`provider\`, one of ${Object.keys(PROVIDER_FACTS).join(", ")}.`,
    };
  }
  const name = model ?? PROVIDER_FACTS[server].defaultModel;
  if (name !== undefined) return { ok: true, provider: server, model: name };
  return {
    ok: false,
    message: `\`[${where}]\` does not name a model, and \`${server}\` has no default one.`,
    hint: "Add `model`: the name the server knows it by, or, for a replay or a script, the path of its file.",
  };
}
