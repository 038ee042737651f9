/** The input and output types of `resolve-model.ts`. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Refusal } from "@metier/base/result";
import type { Config, ModelConfig, ModelProvider } from "@metier/skills/config";
import type { Pricing } from "./prices.ts";
import type { Replay, ReplayedRun } from "./replay-model.ts";

/** Runs a program without a shell; rejects if it can't be run or fails. */
export type CommandRunner = (argv: readonly string[]) => Promise<{ readonly stdout: string }>;

export interface ModelRequest {
  readonly config: Pick<Config, "models" | "skills">;
  /** The process's environment, which may have keys. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where `~` leads and relative paths of model files start. Default: the process's home. */
  readonly home?: string | undefined;
  readonly cwd?: string | undefined;
  /** Other people are served: a person's own account must not pay for them. */
  readonly isService?: boolean | undefined;
  readonly skill?: {
    readonly name: string;
    /** From its manifest. */
    readonly model?: string | undefined;
    /** Its file, for diagnostics. */
    readonly location?: string | undefined;
  };
  /** From the call. */
  readonly asked?: string | GivenModel | undefined;
  readonly given?: GivenModels | undefined;
  /**
   * The providers of the person it is for, and which of this machine's models they may use. Absent: all of these, and
   * no others.
   */
  readonly own?: OwnModels | undefined;
  /** The model of the run that starts this one: what `inherit` means, and what continues a replay. */
  readonly caller?: ResolvedModel | undefined;
  /** The run it is for; needed for a replay. */
  readonly run?: ReplayedRun | undefined;
  /** For a key that a command prints. Absent: it isn't fetched, and the model can't be used. */
  readonly runCommand?: CommandRunner | undefined;
}

export interface ModelSecret {
  /** Where it came from: a variable or a config key. */
  readonly name: string;
  /** The key itself. */
  readonly value: string;
  /** It is a secret in a vault, under that name. */
  readonly isStored?: boolean | undefined;
}

export interface ResolvedModel {
  readonly model: LanguageModelV4;
  /** For people: `anthropic/claude-…`. */
  readonly id: string;
  /** The config's name for it, if any. */
  readonly alias?: string | undefined;
  readonly provider: string;
  /** For the redaction gate. */
  readonly secrets: readonly ModelSecret[];
  /** Absent: its price is unknown. */
  readonly pricing?: Pricing | undefined;
  /** A small model: fewer tools, shorter descriptions. */
  readonly lean?: boolean | undefined;
  /** From the embedding program, with its own key. */
  readonly isGiven?: boolean | undefined;
  /** Costs nothing: a script, a replay, or the user's own server. */
  readonly isFree?: boolean | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Nested runs are replayed from the same recording. */
  readonly replay?: Replay;
}

/** A prerequisite is missing: nothing can run. */
export interface ModelRefusal extends Refusal {
  readonly hint: string;
  /** Absent: there is no usable model. */
  readonly code?: "model.unknown";
}

/** A chosen model, before its key is read and its provider loaded. */
export type ModelTarget =
  | { readonly kind: "given"; readonly model: GivenModel; readonly alias?: string }
  | { readonly kind: "inherited"; readonly from: ResolvedModel }
  | { readonly kind: "own"; readonly provider: OwnProvider; readonly model: string }
  | {
      readonly kind: "configured";
      readonly config: ModelConfig;
      readonly alias?: string;
      /** The table with its address and key: `models.fast`. */
      readonly where: string;
    };

/**
 * An AI SDK 7 or 6 model from the embedding program (`LanguageModelV4`, `LanguageModelV3`), described by its
 * identifying parts: so the library's types need none of the SDK's, and the program's copy needn't be ours.
 */
export interface GivenModel {
  /** The version of the AI SDK's model interface. */
  readonly specificationVersion: "v4" | "v3";
  /** The AI SDK's name for the provider, such as `anthropic.messages`. */
  readonly provider: string;
  /** The provider's name for the model. */
  readonly modelId: string;
  /** Which file URLs the provider can read itself, as in the AI SDK. */
  readonly supportedUrls: unknown;
  /** Answers one request as a whole; Metier calls it, not you. */
  doGenerate(options: never): PromiseLike<unknown>;
  /** Streams the answer to one request; Metier calls it, not you. */
  doStream(options: never): PromiseLike<unknown>;
}

/** By alias; `default` is used if nothing is named. A string is a model's name. */
export type GivenModels = Readonly<Record<string, GivenModel | string>>;

/** What a user's own provider may be: something reached over the network. */
export type OwnProviderKind = Extract<ModelProvider, "anthropic" | "openai" | "google" | "openai-compatible">;

/** A provider that belongs to the person runs are for. */
export interface OwnProvider {
  /** The prefix of its models: `<name>/<model>`. */
  readonly name: string;
  /** Its protocol. */
  readonly kind: OwnProviderKind;
  /** Default: the address for that kind. */
  readonly baseUrl?: string | undefined;
  /** Its key. Absent: it needs none. */
  readonly key?: ModelSecret | undefined;
  /** The only models that may be named; the first is the default. Absent: all. */
  readonly models?: readonly string[] | undefined;
  /** Per million tokens. Default: the list price, if there is one. */
  readonly inputPrice?: number | undefined;
  /** Per million tokens. */
  readonly outputPrice?: number | undefined;
  /** Reaches its address, and nothing else. */
  readonly fetch: typeof fetch;
}

/** The providers that runs have in addition to, or instead of, this machine's. */
export interface OwnModels {
  /** In this order: the first is the default. */
  readonly providers: readonly OwnProvider[];
  /**
   * Which of this machine's models may be used too: `all`; only those that its config and environment `configured`,
   * without its files and unnamed servers; or `none`.
   */
  readonly home: "all" | "configured" | "none";
  /** What to do if no model is found. */
  readonly hint: string;
}
