/** Turns what was found into choices for the default model: best first, each with its config table. */
import type { KeyFinding, ModelFindings } from "./find-models.ts";
import type { LocalServer, ServedModel } from "./local-servers.ts";

export interface ModelOffer {
  /** `anthropic/claude-…` */
  readonly id: string;
  /** For people: `Ollama qwen3:8b`. */
  readonly label: string;
  /** How it was found. */
  readonly found: string;
  /** `[models.default]`, as it is written. */
  readonly table: Readonly<Record<string, string | number | boolean>>;
  /** The comment above the table. */
  readonly comment: readonly string[];
  /** What the user must accept before it is tried. */
  readonly terms?: readonly string[];
}

/** A server may list hundreds. */
const MOST_OF_A_SERVER = 6;

export function listModelOffers({
  keys,
  servers,
  files,
  ggufPackage,
  programs,
}: ModelFindings): readonly ModelOffer[] {
  return [
    ...keys.map(offerKey),
    ...servers.flatMap((server) =>
      server.models.slice(0, MOST_OF_A_SERVER).map((model) => offerServed(server, model)),
    ),
    ...("version" in ggufPackage
      ? files.slice(0, MOST_OF_A_SERVER).map((file) => offerFile(file, ggufPackage.folder))
      : []),
    ...programs.flatMap(offerProgram),
  ];
}

const VENDORS: Readonly<Record<string, string>> = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  google: "Google",
};

function offerKey({ provider, variable, model }: KeyFinding): ModelOffer {
  return {
    id: `${provider}/${model}`,
    label: `${VENDORS[provider] ?? provider} ${model}`,
    found: `key in ${variable}`,
    table: { provider, model, "api-key-env": variable },
    comment: [
      "Metier's default model. Written by `metier init`.",
      `The key stays in ${variable}; it is not stored here. Calls are billed to that key.`,
    ],
  };
}

function offerServed({ name, address, speaks }: LocalServer, model: ServedModel): ModelOffer {
  const provider = speaks === "ollama" ? "ollama" : "openai-compatible";
  const { contextTokens, tools } = model;
  const facts = [
    address,
    ...(contextTokens === undefined ? [] : [`${contextTokens.toLocaleString("en-US")} tokens of context`]),
    ...(tools === false ? ["cannot call tools"] : []),
  ];
  const isUsual = provider === "ollama" && address === "http://127.0.0.1:11434";
  return {
    id: `${provider}/${model.name}`,
    label: `${name} ${model.name}`,
    found: facts.join(", "),
    table: {
      provider,
      model: model.name,
      ...(!isUsual && { "base-url": speaks === "ollama" ? address : `${address}/v1` }),
      // Ollama models are lean anyway.
      ...(speaks === "openai" && { lean: true }),
    },
    comment: [
      "Metier's default model. Written by `metier init`.",
      `${name} serves it on this machine; it needs no key, and nothing leaves the machine.`,
      ...(speaks === "ollama"
        ? ["Set `context-tokens` to change the context size, `lean = false` to send all tools."]
        : ["Set `lean = false` to send all tools with their full descriptions."]),
    ],
  };
}

function offerFile(
  { name, path, bytes }: ModelFindings["files"][number],
  folder: string | undefined,
): ModelOffer {
  return {
    id: `gguf/${name}`,
    label: `GGUF ${name}`,
    found: `${path}, ${showSize(bytes)}`,
    table: { provider: "gguf", model: name, path, ...(folder !== undefined && { package: folder }) },
    comment: [
      "Metier's default model. Written by `metier init`.",
      "The package node-llama-cpp loads this file into Metier's process; nothing leaves this machine.",
      "Set `context-tokens` to change the context size, `lean = false` to send all tools.",
    ],
  };
}

function showSize(bytes: number): string {
  const megabytes = bytes / 1024 ** 2;
  return megabytes >= 1024
    ? `${(megabytes / 1024).toFixed(1)} GB`
    : `${Math.max(1, Math.round(megabytes))} MB`;
}

/** `codex` can't turn its own shell tool off, so Metier's policy and sandbox wouldn't apply. */
function offerProgram({ name, path }: ModelFindings["programs"][number]): readonly ModelOffer[] {
  if (name !== "claude") return [];
  return [
    {
      id: "claude-program/default",
      label: "Claude Code, your own program",
      found: `${path}, asks for your consent`,
      table: { provider: "claude-program", program: path },
      comment: [
        "Metier's default model. Written by `metier init`.",
        "Metier starts your `claude` program with its tools, settings and MCP servers off.",
        "`accepted-terms` is the day you accepted its vendor's terms; remove it to turn this off.",
      ],
      terms: [
        "Claude Code is a program of Anthropic. You use it under your own agreement",
        "with Anthropic, whose terms may limit how other software may use your",
        "subscription. Read them at https://www.anthropic.com/legal.",
        "Metier starts the `claude` you installed with its own tools, settings, hooks",
        "and MCP servers off; every request counts against your account.",
      ],
    },
  ];
}
