/** What is asked of `resolve-model.ts`, and what it answers. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Refusal } from "@metier/base/result";
import type { Config, ModelConfig, ModelProvider } from "@metier/skills/config";
import type { Pricing } from "./prices.ts";
import type { Replay, ReplayedRun } from "./replay-model.ts";

/** Runs a program without a shell; rejects when it cannot be run or fails. */
export type CommandRunner = (argv: readonly string[]) => Promise<{ readonly stdout: string }>;

export interface ModelRequest {
  readonly config: Pick<Config, "models" | "skills">;
  /** Of the process; keys are looked for here. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where `~` leads and where a relative path of a model's file begins. Default: of the process. */
  readonly home?: string | undefined;
  readonly cwd?: string | undefined;
  /** Others are served: what a person's own account pays for is refused. */
  readonly isService?: boolean | undefined;
  readonly skill?: {
    readonly name: string;
    /** What its manifest says. */
    readonly model?: string | undefined;
    /** Its file, for diagnostics. */
    readonly location?: string | undefined;
  };
  /** What the call says. */
  readonly asked?: string | GivenModel | undefined;
  readonly given?: GivenModels | undefined;
  /** Providers of whoever it is for, and what of this machine's models is for them. Absent: all of these, and no others. */
  readonly own?: OwnModels | undefined;
  /** The model of the run that starts this one: what `inherit` means, and what goes on replaying. */
  readonly caller?: ResolvedModel | undefined;
  /** The run it is for; a replay needs to know. */
  readonly run?: ReplayedRun | undefined;
  /** For a key that a command prints. Absent: it is not fetched, and the model cannot be asked. */
  readonly runCommand?: CommandRunner | undefined;
}

export interface ModelSecret {
  /** Where it came from: a variable or a config key. */
  readonly name: string;
  /** The key itself. */
  readonly value: string;
  /** It is a secret of a vault, by that name. */
  readonly isStored?: boolean | undefined;
}

export interface ResolvedModel {
  readonly model: LanguageModelV4;
  /** For people: `anthropic/claude-…`. */
  readonly id: string;
  /** The config's name for it, where it has one. */
  readonly alias?: string | undefined;
  readonly provider: string;
  /** For the redaction gate. */
  readonly secrets: readonly ModelSecret[];
  /** Absent: nobody said what it costs. */
  readonly pricing?: Pricing | undefined;
  /** A small model: fewer tools, shorter descriptions. */
  readonly lean?: boolean | undefined;
  /** By the embedding program, with its own key. */
  readonly isGiven?: boolean | undefined;
  /** Nothing is spent: a script, a replay, or a server of the user's own. */
  readonly isFree?: boolean | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Nested runs are replayed from the same recording. */
  readonly replay?: Replay;
}

/** A prerequisite is missing: nothing can run. */
export interface ModelRefusal extends Refusal {
  readonly hint: string;
  /** Absent: there is no model that could be asked. */
  readonly code?: "model.unknown";
}

/** A model that was decided on, before its key is read and its provider loaded. */
export type ModelTarget =
  | { readonly kind: "given"; readonly model: GivenModel; readonly alias?: string }
  | { readonly kind: "inherited"; readonly from: ResolvedModel }
  | { readonly kind: "own"; readonly provider: OwnProvider; readonly model: string }
  | {
      readonly kind: "configured";
      readonly config: ModelConfig;
      readonly alias?: string;
      /** The table that its address and key come from: `models.fast`. */
      readonly where: string;
    };

/**
 * A model of the AI SDK 7 or 6 as the embedding program gives it (`LanguageModelV4`, `LanguageModelV3`), by the parts that
 * tell one: so the library's types need none of the SDK's, and the program's copy of it need not be ours.
 */
export interface GivenModel {
  /** Which version of the AI SDK's model interface it has. */
  readonly specificationVersion: "v4" | "v3";
  /** The AI SDK's name for the provider, such as `anthropic.messages`. */
  readonly provider: string;
  /** The provider's name for the model. */
  readonly modelId: string;
  /** Which file URLs the provider itself can read, as the AI SDK has it. */
  readonly supportedUrls: unknown;
  /** Answers one request as a whole; Metier calls it, not you. */
  doGenerate(options: never): PromiseLike<unknown>;
  /** Streams the answer to one request; Metier calls it, not you. */
  doStream(options: never): PromiseLike<unknown>;
}

/** By alias; `default` is taken when nothing is named. A text is the name of a model. */
export type GivenModels = Readonly<Record<string, GivenModel | string>>;

/** What a provider of one's own may be: something that is reached over the network. */
export type OwnProviderKind = Extract<ModelProvider, "anthropic" | "openai" | "google" | "openai-compatible">;

/** A provider of whoever runs are for. */
export interface OwnProvider {
  /** Models are named by it: `<name>/<model>`. */
  readonly name: string;
  /** How it is spoken with. */
  readonly kind: OwnProviderKind;
  /** Default: the address of that kind. */
  readonly baseUrl?: string | undefined;
  /** Its key. Absent: it needs none. */
  readonly key?: ModelSecret | undefined;
  /** The only models that may be named; the first is the default. Absent: all. */
  readonly models?: readonly string[] | undefined;
  /** For a million tokens. Default: the list's price, where there is one. */
  readonly inputPrice?: number | undefined;
  /** For a million tokens. */
  readonly outputPrice?: number | undefined;
  /** What reaches its address, and nothing else. */
  readonly fetch: typeof fetch;
}

/** The providers that runs have beside, or in place of, those of this machine. */
export interface OwnModels {
  /** In this order: the first is the default. */
  readonly providers: readonly OwnProvider[];
  /**
   * What of this machine's models may be used, too: `all`; those that its config and environment `configured`, and none
   * that is a file or an unnamed server of it; or `none`.
   */
  readonly home: "all" | "configured" | "none";
  /** What to do where no model is found. */
  readonly hint: string;
}
