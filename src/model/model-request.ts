/** What is asked of `resolve-model.ts`, and what it answers. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Config, ModelConfig } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { GivenModel, GivenModels } from "./given-model.ts";
import type { Pricing } from "./pricing.ts";
import type { Replay, ReplayedRun } from "./replay-model.ts";

/** Runs a program without a shell; rejects when it cannot be run or fails. */
export type CommandRunner = (argv: readonly string[]) => Promise<{ readonly stdout: string }>;

export interface ModelRequest {
  readonly config: Pick<Config, "models" | "skills">;
  /** Of the process; keys are looked for here. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly skill?: {
    readonly name: string;
    /** What its manifest says. */
    readonly model?: string;
    /** Its file, for diagnostics. */
    readonly location?: string;
  };
  /** What the call says. */
  readonly asked?: string | GivenModel;
  readonly given?: GivenModels;
  /** The model of the run that starts this one: what `inherit` means, and what goes on replaying. */
  readonly caller?: ResolvedModel;
  /** The run it is for; a replay needs to know. */
  readonly run?: ReplayedRun;
  /** An unknown name is a failure instead of a warning. */
  readonly strictModels?: boolean;
  /** For a key that a command prints. Absent: it is not fetched, and the model cannot be asked. */
  readonly runCommand?: CommandRunner;
}

export interface ModelSecret {
  /** Where it came from: a variable or a config key. */
  readonly name: string;
  readonly value: string;
}

export interface ResolvedModel {
  readonly ok: true;
  readonly model: LanguageModelV4;
  /** For people: `anthropic/claude-…`. */
  readonly id: string;
  /** The config's name for it, where it has one. */
  readonly alias?: string;
  readonly provider: string;
  /** For the redaction gate. */
  readonly secrets: readonly ModelSecret[];
  readonly pricing?: Pricing;
  readonly diagnostics: readonly Diagnostic[];
  /** Nested runs are replayed from the same recording. */
  readonly replay?: Replay;
}

/** A prerequisite is missing: nothing can run. */
export interface ModelFailure {
  readonly ok: false;
  readonly message: string;
  readonly hint: string;
}

export type ModelOutcome = ResolvedModel | ModelFailure;

/** A model that was decided on, before its key is read and its provider loaded. */
export type ModelTarget =
  | { readonly kind: "given"; readonly model: GivenModel; readonly alias?: string }
  | { readonly kind: "inherited"; readonly from: ResolvedModel }
  | {
      readonly kind: "configured";
      readonly config: ModelConfig;
      readonly alias?: string;
      /** The table that its address and key come from: `models.fast`. */
      readonly where: string;
    };
