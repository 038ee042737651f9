/** The scripted model for programs that test what they build: no network, no key, strict both ways. */
import type { StreamedAnswer, WholeAnswer } from "../model/answer-forms.ts";
import type { GivenModel } from "../model/given-model.ts";
import type { Script } from "../model/script.ts";
import { createScriptedModel as createModel } from "../model/scripted-model.ts";

/** Is a `LanguageModel` for the functions of the AI SDK 7, too. */
export interface ScriptedModel extends GivenModel {
  readonly supportedUrls: Record<string, never>;
  doGenerate(options: never): PromiseLike<WholeAnswer>;
  doStream(options: never): PromiseLike<StreamedAnswer>;
  /** Turns that nobody asked for yet. */
  readonly remaining: number;
  /** Throws unless every turn was used. */
  assertDone(): void;
}

/** Answers turn by turn; a request that a turn does not expect fails. */
export function createScriptedModel(script: Script, name?: string): ScriptedModel {
  return createModel(script, name);
}
